import { strict as assert } from 'node:assert';
import { assertNoPowerWrites, hostRunning, nowNs, startedAfter } from '../observations.js';
import type { Scenario } from '../scenario.js';

export const V15: Scenario = {
  name: 'V15',
  title: 'a unit stops on a healthy node: it is started there again, once, and it is told',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const mark = fleet.events.mark();
    const since = nowNs();
    await fleet.lab('exec', host, '--', 'systemctl', 'stop', 'muster-workload-w1.service');
    const stoppedNs = nowNs();
    const run = await startedAfter(fleet, 'w1', stoppedNs, 60_000);
    assert.equal(run.host, host, `w1 was started on ${run.host}`);
    const w1 = (change: string) => (e: (typeof fleet.events.seen)[number]) =>
      e.kind === 'workload' && e.key === 'w1' && e.data['change'] === change;
    await fleet.events.until('the event that it has ended', w1('ended'), 10_000, mark);
    await fleet.events.until('the event that it runs', w1('running'), 10_000, mark);
    assert.equal(fleet.events.seen.slice(mark).filter(w1('ended')).length, 1, 'it was started more than once');
    assert.equal((await fleet.history('w1'))?.longestOverlapMs, 0, 'w1 ran twice');
    await assertNoPowerWrites(fleet, since);
    say(`started again on ${host} after ${((run.fromNs - stoppedNs) / 1e9).toFixed(1)} s`);
  },
};
