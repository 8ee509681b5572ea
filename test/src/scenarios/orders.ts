import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IncidentRecord, NodeView, StatusView } from '#contracts';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { assertNoPowerWrites, hostRunning, kill, nowNs, powerWrites, startedAfter } from '../observations.js';
import { VoidRound, type Scenario } from '../scenario.js';
import { idleHost, lasts } from '../watch.js';

const PAUSED_MS = 10_000;
/** The leader asks for its leave as the phase begins; a read of before that may hold it up at the BMC, ms. */
const LEAVE_MS = 1_000;

/** Does a command wait in the BMC that came since then? */
async function heldSince(fleet: Fleet, host: string, ns: number): Promise<boolean> {
  const lines = (await readFile(join(fleet.options.dir, 'bmc', host, 'log.jsonl'), 'utf8')).split('\n');
  const entries = lines.filter(Boolean).map((line) => JSON.parse(line) as { op: string; ns: number });
  return entries.some((e) => e.op === 'held' && e.ns >= ns);
}

const F34: Scenario = {
  name: 'F34',
  title: 'a pause is set between the leave and the off: none comes after its acknowledgement, and with its end it does',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    // The fencer has its leave, and reads the power first: there it waits.
    await fleet.lab('bmc', host, 'hold=get');
    const death = await kill(fleet, host);
    await fleet.events.incident(death.node, 'fencing', 30_000, death.mark);
    await fleet.until(
      'a read to wait at the BMC',
      async () => ((await heldSince(fleet, host, death.ns)) ? true : undefined),
      20_000,
    );
    await lasts(LEAVE_MS);
    const paused = { until: Date.now() + 3_600_000, reason: 'spec' };
    await fleet.api.put('/v1/fencing', { mode: 'enforce', paused });
    const acknowledged = nowNs();
    if ((await powerWrites(fleet, host, death.ns)).length > 0) throw new VoidRound('the off came before the pause');
    await fleet.lab('bmc', host, 'release');
    await lasts(PAUSED_MS);
    assert.deepEqual(
      await powerWrites(fleet, host, acknowledged),
      [],
      'power commands after the pause was acknowledged',
    );
    await fleet.api.put('/v1/fencing', { mode: 'enforce', paused: { ...paused, until: Date.now() } });
    const resumed = nowNs();
    const run = await startedAfter(fleet, 'w1', death.ns, 60_000);
    say(`running on ${run.host} ${((run.fromNs - resumed) / 1e9).toFixed(1)} s after the pause`);
  },
};

const password = async (fleet: Fleet): Promise<string> =>
  (await readFile(join(fleet.options.dir, 'run', 'bmc-password'), 'utf8')).trim();

const withPassword = (n: NodeView, text: string): unknown =>
  n.powerLevels.map((level) => level.map(({ secret: _kept, ...d }) => ({ ...d, password: text })));

const F31: Scenario = {
  name: 'F31',
  title:
    'the password of a BMC is wrong: failed, and says so; corrected in the open incident, it is fenced at the next try',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const was = await fleet.node(host);
    const path = `/v1/nodes/${was.name}`;
    const right = await password(fleet);
    await fleet.api.request('PATCH', path, { powerLevels: withPassword(was, `${right.slice(0, 10)}-no`) });
    const death = await kill(fleet, host);
    await fleet.events.incident(death.node, 'failed', 60_000, death.mark);
    const { commands } = await fleet.incident(host);
    assert.ok(
      commands.some((c) => c.result?.code === 'BMC_AUTH'),
      `no command says that the password is wrong: ${JSON.stringify(commands.map((c) => c.result))}`,
    );
    assert.deepEqual(await powerWrites(fleet, host, death.ns), []);
    // Its last command may still be at work at the BMC: until the power quarantine is over the devices stay as they are.
    await fleet.until(
      'the correction to be accepted',
      async () => {
        const { status, text } = await fleet.api.exchange('PATCH', path, { powerLevels: withPassword(was, right) });
        assert.ok(status === 200 || text.includes('NODE_BUSY'), text);
        return status === 200 ? true : undefined;
      },
      60_000,
    );
    const corrected = nowNs();
    const run = await startedAfter(fleet, 'w1', death.ns, 90_000);
    say(`running on ${run.host} ${((run.fromNs - corrected) / 1e9).toFixed(1)} s after the correction`);
    assert.ok((await powerWrites(fleet, host, corrected)).includes('off'));
  },
};

const order = { reason: 'smoke from its rack' };
const fence = (fleet: Fleet, host: string): Promise<unknown> =>
  fleet.api.post(`/v1/nodes/${fleet.nodeOf(host)}/fence`, order);

/** Nobody judges the fleet until `start`. */
async function killDetector(fleet: Fleet): Promise<void> {
  await fleet.lab('service', 'detector', 'kill');
  await fleet.until(
    'the fleet to be unseen',
    async () => ((await fleet.api.get<StatusView>('/v1/status')).detector.sighted ? undefined : true),
    20_000,
  );
}

const F33: Scenario = {
  name: 'F33',
  title:
    'orders to power off that were given while nobody saw: one is cancelled, one ends by itself as its node is back',
  async run(fleet, say) {
    const since = nowNs();
    const [busy, idle] = [await hostRunning(fleet, 'w1'), await idleHost(fleet)];
    await killDetector(fleet);
    for (const host of [busy, idle]) await fence(fleet, host);
    await fleet.until(
      'both to wait',
      async () => ((await phases(fleet, busy, idle)).every((p) => p === 'suppressed') ? true : undefined),
      20_000,
    );
    const cancelled = await fleet.api.post<IncidentRecord>(`/v1/incidents/${fleet.nodeOf(busy)}/cancel`, {
      reason: 'the wrong rack',
    });
    assert.equal(cancelled.phase, 'cancelled');
    await fleet.lab('service', 'detector', 'start');
    const ended = await fleet.until(
      'the other order to end by itself',
      async () => {
        const i = await fleet.incident(idle);
        return i.phase === 'cancelled' ? i : undefined;
      },
      60_000,
    );
    say(ended.steps.at(-1)?.detail ?? '');
    await fleet.until(
      'both to serve',
      async () => ((await fleet.nodes()).every((n) => n.inService) ? true : undefined),
      60_000,
    );
    await assertNoPowerWrites(fleet, since);
  },
};

const phases = (fleet: Fleet, ...hosts: string[]): Promise<string[]> =>
  Promise.all(hosts.map(async (h) => (await fleet.incident(h)).phase));

export const orders: readonly Scenario[] = [F31, F33, F34];
