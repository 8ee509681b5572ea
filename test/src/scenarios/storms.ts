import { strict as assert } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { defaultStorm, type StormLimits, type StormView } from '#contracts';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { alarm, assertNoPowerWrites, kill, nowNs, powerWrites } from '../observations.js';
import type { Scenario } from '../scenario.js';

/** ms: so long the cables are out, and between two that are put in again. */
const CUT_MS = 20_000;
const BETWEEN_MS = 2_000;
/** A storm ends so long after the last member's first return, ms. */
const OPENS_MS = 120_000;

const storms = async (fleet: Fleet): Promise<StormView[]> =>
  (await fleet.api.get<{ items: StormView[] }>('/v1/storms')).items;

const withLimits = async (fleet: Fleet, storm: Partial<StormLimits>): Promise<void> => {
  await fleet.api.put('/v1/fencing', { mode: 'enforce', storm });
};

/** By the product's own limits: the fleet of these tests may lose more at once than any other should. */
async function underProductLimits(fleet: Fleet, act: (six: string[]) => Promise<void>): Promise<void> {
  const six = fleet.info.hosts.slice(4).map((h) => h.name);
  await withLimits(fleet, defaultStorm);
  try {
    await act(six);
  } finally {
    await fleet.lab('heal');
    await withLimits(fleet, { brakeAtLeast: 100, capAtLeast: 100, flaps: 100 });
  }
}

async function cutAll(fleet: Fleet, hosts: readonly string[]): Promise<void> {
  await Promise.all(hosts.map((h) => fleet.lab('cut', h)));
}

/** One after the other, as by somebody at a rack. */
async function healOneByOne(fleet: Fleet, hosts: readonly string[]): Promise<void> {
  for (const host of hosts) {
    await pause(BETWEEN_MS); // the fault itself: how slowly it heals
    await fleet.lab('heal', host);
  }
}

const theStorm = (fleet: Fleet, what: string, fits: (s: StormView) => boolean): Promise<StormView> =>
  fleet.until(what, async () => (await storms(fleet)).find(fits), 30_000);

const F27: Scenario = {
  name: 'F27',
  nodes: 10,
  needsNetns: true,
  title: '6 of 10 are cut and healed one every 2 s: nobody is powered off, then or after',
  async run(fleet, say) {
    await underProductLimits(fleet, async (six) => {
      const since = nowNs();
      await cutAll(fleet, six);
      await pause(CUT_MS); // the fault itself: how long it lasts
      await healOneByOne(fleet, six);
      // With four reporters of ten the detector is blind: who is silent when it sees again makes the storm.
      const healed = await theStorm(
        fleet,
        'a storm, all of it back',
        (s) => s.members.length > 0 && s.rest.length === 0,
      );
      say(`a storm of ${healed.members.length} (${healed.cause})`);
      assert.ok(healed.resumesAt !== undefined, 'it does not end by itself');
      await fleet.until('all in service', async () => ((await inService(fleet)) === 10 ? true : undefined), 60_000);
      await assertNoPowerWrites(fleet, since);
    });
  },
};

const inService = async (fleet: Fleet): Promise<number> => (await fleet.nodes()).filter((n) => n.inService).length;

const F27dead: Scenario = {
  name: 'F27.dead',
  nodes: 10,
  needsNetns: true,
  title: '2 of the 6 are really dead: they are fenced 120 s after the last of the others is back, nobody else',
  async run(fleet, say) {
    await underProductLimits(fleet, async (six) => {
      const since = nowNs();
      const [a = '', b = '', ...living] = six;
      await cutAll(fleet, six);
      const deaths = [await kill(fleet, a), await kill(fleet, b)];
      await pause(CUT_MS); // the fault itself: how long it lasts
      await healOneByOne(fleet, living);
      const back = nowNs();
      const dead = deaths.map((d) => d.node).sort();
      await theStorm(fleet, 'the living to be back', (s) => isDeepStrictEqual(s.rest, dead) && s.returned.length > 0);
      await assertNoPowerWrites(fleet, since);
      for (const d of deaths) {
        const fenced = await fleet.events.incident(d.node, 'fenced', OPENS_MS + 60_000, d.mark);
        const ms = (Number(fenced.arrivedNs) - back) / 1e6;
        say(`${d.host} fenced ${(ms / 1000).toFixed(1)} s after the last cable was in again`);
        assert.ok(ms >= OPENS_MS, `${d.host} was fenced ${ms.toFixed(0)} ms after the last return`);
      }
      for (const h of living) assert.deepEqual(await powerWrites(fleet, h, since), [], `${h} got power commands`);
    });
  },
};

const F27lasts: Scenario = {
  name: 'F27.lasts',
  nodes: 10,
  needsNetns: true,
  title: '4 of 10 are cut for 20 min: nobody is powered off, the alarm is told again, and says how long it has stood',
  async run(fleet, say) {
    await underProductLimits(fleet, async (six) => {
      // Of ten the detector must hear six to see at all.
      const cut = six.slice(2);
      const since = nowNs();
      await cutAll(fleet, cut);
      const { id } = await theStorm(fleet, 'a storm of all', (s) => s.members.length === cut.length);
      const told = async (): Promise<string | undefined> => (await alarm(fleet, 'brake', 'fleet'))?.message;
      const first = await fleet.until(
        'the alarm',
        async () => ((await told())?.includes(id) ? told() : undefined),
        10_000,
      );
      const again = await fleet.until(
        'the alarm to be told again',
        async () => ((await told())?.includes('15 min') ? told() : undefined),
        17 * 60_000,
      );
      assert.notEqual(again, first);
      await pause(20 * 60_000 - (nowNs() - since) / 1e6); // the fault itself: how long it lasts
      await assertNoPowerWrites(fleet, since);
      await fleet.lab('heal');
      await theStorm(fleet, 'all to be back', (s) => s.id === id && s.rest.length === 0);
      await assertNoPowerWrites(fleet, since);
      say(again ?? '');
    });
  },
};

/** Each on a fleet of ten. */
export const storm: readonly Scenario[] = [F27, F27dead, F27lasts];
