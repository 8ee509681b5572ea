import { strict as assert } from 'node:assert';
import { dirname } from 'node:path';
import { assertNoPowerWrites, hostRunning, kill, nowNs, startedAfter } from '../observations.js';
import { idleWorkers } from '../operations.js';
import { onHost } from '../returns.js';
import type { Scenario } from '../scenario.js';

const REFUSING = '/etc/systemd/system/muster-workload-w1.service.d/refuse.conf';
/** A death must be recovered within the minute, also where the first target fails it. */
const ELSEWHERE_WITHIN_MS = 60_000;

export const V14: Scenario = {
  name: 'V14',
  title: 'a target that refuses three starts: the workload is stopped there, and runs on another within the minute',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const target = (await idleWorkers(fleet)).find((h) => h !== host);
    assert.ok(target !== undefined, 'the fleet has no idle worker');
    const node = fleet.nodeOf(target);
    // Hosts that are kept for recoveries are taken first.
    await fleet.api.request('PATCH', `/v1/nodes/${node}`, { vars: { recovery_reserve: true } });
    const dropIn = '[Service]\\nExecStartPre=/bin/false\\n';
    await onHost(fleet, target, `mkdir -p ${dirname(REFUSING)} && printf '${dropIn}' > ${REFUSING}`);
    try {
      const death = await kill(fleet, host);
      const of = (change: string) => (e: (typeof fleet.events.seen)[number]) =>
        e.kind === 'workload' && e.key === 'w1' && e.data['change'] === change;
      const placed = await fleet.events.until('w1 to be placed', of('assigned'), 30_000, death.mark);
      assert.equal(placed.data['node'], node, 'another than the reserved host was chosen');
      const run = await startedAfter(fleet, 'w1', death.ns, ELSEWHERE_WITHIN_MS);
      assert.ok(run.host !== target && run.host !== host, `w1 was started on ${run.host}`);
      assert.equal(fleet.events.seen.slice(death.mark).filter(of('stopping')).length, 1, 'it was not stopped first');
      assert.equal((await fleet.history('w1'))?.longestOverlapMs, 0, 'w1 ran twice');
      const w1 = (await fleet.workloads()).find((w) => w.name === 'w1');
      assert.deepEqual(
        w1?.failedOn?.map((f) => f.node),
        [node],
      );
      say(
        `refused three times on ${target}; on ${run.host} ${((run.fromNs - death.ns) / 1e9).toFixed(1)} s after the death`,
      );
    } finally {
      await onHost(fleet, target, `rm -f ${REFUSING}`);
      await fleet.api.request('PATCH', `/v1/nodes/${node}`, { vars: { recovery_reserve: null } });
    }
  },
};

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
