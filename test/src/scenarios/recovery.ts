import { strict as assert } from 'node:assert';
import { assignedTo, hostRunning, kill, nowNs, startedAfter } from '../observations.js';
import type { Scenario } from '../scenario.js';

/** The mission's minute. */
const ELSEWHERE_WITHIN_MS = 60_000;

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
