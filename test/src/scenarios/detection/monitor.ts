import { strict as assert } from 'node:assert';
import { MusterError } from '#contracts';
import type { Fleet } from '../../../../lab/src/fleet/fleet.js';
import { kill } from '../../observations.js';
import type { Scenario } from '../../scenario.js';
import { oneOff } from './death.js';
import { allUp, hostNames, idleHost, lasts, Watch, withProfile } from '../../watch.js';

/** By the mission's list of faults, ms. */
const BLIND_WITHIN_MS = 3_000;
const FOUND_WITHIN_MS = 5_000;

/** Nobody is told that a node serves: the gateway refuses the question for now, or says of every node that nobody knows. */
const tellsOfNobody = (fleet: Fleet): Promise<boolean> =>
  fleet.nodes().then(
    (nodes) => nodes.every((n) => !n.inService),
    (e: unknown) => {
      if (e instanceof MusterError && e.facts['status'] === 503) return true;
      throw e;
    },
  );

export const D11: Scenario = {
  name: 'D11',
  timed: true,
  title:
    'NATS is down for 60 s: within 3 s nobody is told of a node in service; no verdict then or after; a node that dies meanwhile is found within 5 s after',
  async run(fleet, say) {
    const watch = new Watch(fleet);
    const since = process.hrtime.bigint();
    await fleet.lab('nats', 'kill');
    await fleet.until(
      'the gateway to tell of nobody',
      async () => ((await tellsOfNobody(fleet)) ? true : undefined),
      BLIND_WITHIN_MS,
    );
    say(`nobody in service after ${(Number(process.hrtime.bigint() - since) / 1e6).toFixed(0)} ms`);
    await lasts(50_000);
    assert.ok(await tellsOfNobody(fleet), 'nodes in service without a bus');
    const death = await kill(fleet, await idleHost(fleet));
    await lasts(10_000);
    assert.deepEqual(watch.verdicts(), [], 'verdicts while the bus was down');
    await watch.noPowerWrites();
    await fleet.lab('nats', 'start');
    const back = process.hrtime.bigint();
    const down = await fleet.events.verdict(death.node, 'DOWN', 20_000, death.mark);
    const ms = Number(down.arrivedNs - back) / 1e6;
    say(`DOWN ${ms.toFixed(0)} ms after NATS was back`);
    await fleet.events.incident(death.node, 'fenced', 25_000, death.mark);
    await oneOff(fleet, death.host, watch);
    const others = watch.verdicts().filter((e) => e.key !== death.node && e.data['verdict'] === 'DOWN');
    assert.deepEqual(others, []);
    assert.ok(ms <= FOUND_WITHIN_MS, `DOWN came ${ms.toFixed(0)} ms after NATS was back`);
  },
};

export const D11cut: Scenario = {
  name: 'D11.cut',
  timed: true,
  needsNetns: true,
  title: 'the monitor is cut off from everyone: it is blind within 3 s, and calls nobody DOWN then or after',
  async run(fleet, say) {
    const watch = new Watch(fleet);
    const hosts = hostNames(fleet);
    const cut = await fleet.lab<{ ns: number }>('partition', `ctl/${hosts.join(',')}`);
    try {
      await watch.everyVerdict(hosts, 'UNKNOWN');
      const last = watch
        .verdicts()
        .filter((e) => e.data['verdict'] === 'UNKNOWN')
        .at(-1);
      const ms = (Number(last?.arrivedNs) - cut.ns) / 1e6;
      say(`every node UNKNOWN after ${ms.toFixed(0)} ms`);
      assert.ok(ms <= BLIND_WITHIN_MS, `the last was called UNKNOWN after ${ms.toFixed(0)} ms`);
      await lasts(5_000);
    } finally {
      await fleet.lab('heal');
    }
    await allUp(fleet);
    watch.never('DOWN');
    await watch.noPowerWrites();
  },
};

export const D12: Scenario = {
  name: 'D12',
  title: 'the monitor is restarted while a node is suspect: quiet for two periods, then the verdict still comes',
  async run(fleet, say) {
    // Its numbers leave time between the suspicion and the verdict for the restart.
    await withProfile(fleet, 'wan', async ({ reportPeriod }) => {
      const death = await kill(fleet, await idleHost(fleet));
      await fleet.events.verdict(death.node, 'SUSPECT', 15_000, death.mark);
      await fleet.lab('service', 'detector', 'kill');
      const before = fleet.events.seen.slice(death.mark).filter((e) => e.data['verdict'] === 'DOWN');
      assert.deepEqual(before, [], 'the verdict was there before the monitor could be restarted');
      const watch = new Watch(fleet);
      const restarted = process.hrtime.bigint();
      await fleet.lab('service', 'detector', 'start');
      const down = await watch.verdict(death.host, 'DOWN', 45_000);
      const quietUntil = restarted + BigInt(2 * reportPeriod) * 1_000_000n;
      const early = watch.verdicts().filter((e) => e.arrivedNs < quietUntil);
      assert.deepEqual(early, [], 'it spoke before everybody could have reported twice');
      say(`DOWN ${(Number(down.arrivedNs - restarted) / 1e9).toFixed(1)} s after both monitors were restarted`);
      await fleet.events.incident(death.node, 'fenced', 45_000, death.mark);
      await oneOff(fleet, death.host, { mark: death.mark, sinceNs: death.ns });
    });
  },
};
