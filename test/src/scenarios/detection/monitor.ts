import { strict as assert } from 'node:assert';
import { kill } from '../../observations.js';
import type { Scenario } from '../../scenario.js';
import { allUp, hostNames, idleHost, lasts, Watch } from '../../watch.js';

export const D11: Scenario = {
  name: 'D11',
  title: 'NATS is down for 60 s: no verdict then or after; a node that dies meanwhile is found within 5 s after',
  async run(fleet, say) {
    const watch = new Watch(fleet);
    await fleet.lab('nats', 'kill');
    await lasts(50_000);
    const death = await kill(fleet, await idleHost(fleet));
    await lasts(10_000);
    await fleet.lab('nats', 'start');
    const back = process.hrtime.bigint();
    const down = await fleet.events.verdict(death.node, 'DOWN', 20_000, death.mark);
    const ms = Number(down.arrivedNs - back) / 1e6;
    say(`DOWN ${ms.toFixed(0)} ms after NATS was back`);
    await fleet.events.incident(death.node, 'fenced', 25_000, death.mark);
    const others = watch.verdicts().filter((e) => e.key !== death.node && e.data['verdict'] === 'DOWN');
    assert.deepEqual(others, []);
    assert.ok(ms <= 5_000, `DOWN came ${ms.toFixed(0)} ms after NATS was back`);
  },
};

/** By the mission's list of faults, ms. */
const BLIND_WITHIN_MS = 3_000;

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
    const death = await kill(fleet, await idleHost(fleet));
    await fleet.events.verdict(death.node, 'SUSPECT', 10_000, death.mark);
    await fleet.lab('service', 'detector', 'kill');
    const restarted = process.hrtime.bigint();
    const mark = fleet.events.mark();
    await fleet.lab('service', 'detector', 'start');
    const down = await fleet.events.verdict(death.node, 'DOWN', 30_000, mark);
    say(`DOWN ${(Number(down.arrivedNs - restarted) / 1e9).toFixed(1)} s after both monitors were restarted`);
    await fleet.events.incident(death.node, 'fenced', 30_000, death.mark);
  },
};
