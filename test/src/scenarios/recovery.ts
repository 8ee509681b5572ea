import { strict as assert } from 'node:assert';
import { assignedTo, hostRunning, kill, nowNs, runningNow, startedAfter } from '../observations.js';
import type { Scenario } from '../scenario.js';

/** The mission's minute. */
const ELSEWHERE_WITHIN_MS = 60_000;

export const V1: Scenario = {
  name: 'V1',
  title: "a killed host's workloads run elsewhere within the minute, never on two at once",
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const names = (await assignedTo(fleet, host)).filter((w) => w.desired === 'running').map((w) => w.name);
    const death = await kill(fleet, host);
    for (const name of names) {
      const run = await startedAfter(fleet, name, death.ns, ELSEWHERE_WITHIN_MS);
      const history = await fleet.history(name);
      say(`${name}: ${host} → ${run.host} in ${((run.fromNs - death.ns) / 1e6).toFixed(0)} ms`);
      assert.notEqual(run.host, host);
      assert.equal(history?.longestOverlapMs, 0);
    }
  },
};

export const V2: Scenario = {
  name: 'V2',
  title: 'a stopped workload of a killed host stays stopped',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    await fleet.lab('workload', 'add', 'v2', '--on', host);
    await hostRunning(fleet, 'v2');
    await fleet.api.put('/v1/workloads/v2', { desired: 'stopped' });
    await fleet.until(
      'v2 to stop',
      async () => ((await runningNow(fleet, 'v2')) === undefined ? true : undefined),
      30_000,
    );
    const death = await kill(fleet, host);
    await startedAfter(fleet, 'w1', death.ns, ELSEWHERE_WITHIN_MS);
    await fleet.events.incident(death.node, 'recovered', 30_000, death.mark);
    assert.equal(await runningNow(fleet, 'v2'), undefined, 'it runs');
    assert.equal((await fleet.workload('v2')).desired, 'stopped');
    say('not started by recovery');
    await fleet.api.request('DELETE', '/v1/workloads/v2');
  },
};

export const V6: Scenario = {
  name: 'V6',
  title: 'a fenced node that boots by itself, its units enabled at boot: the start gate refuses each',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const names = (await assignedTo(fleet, host)).filter((w) => w.desired === 'running').map((w) => w.name);
    const death = await kill(fleet, host);
    await fleet.events.incident(death.node, 'fenced', 40_000, death.mark);
    const booted = nowNs();
    await fleet.lab('boot', host);
    for (const name of names) await startedAfter(fleet, name, death.ns, ELSEWHERE_WITHIN_MS);
    await fleet.until(
      'the start gate to refuse each unit',
      async () => {
        const logs = await fleet.unitLogs(host);
        return names.every((n) => logs.includes(`muster-gate: ${n} may not start here`)) ? true : undefined;
      },
      30_000,
    );
    for (const name of names) {
      const there = (await fleet.history(name))?.runs.filter((r) => r.host === host && r.fromNs > booted) ?? [];
      assert.deepEqual(there, [], `${name} ran on ${host} after it was fenced`);
      assert.equal((await fleet.history(name))?.longestOverlapMs, 0);
    }
    say(`${names.length} units refused on ${host}`);
  },
};
