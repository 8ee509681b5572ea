import { strict as assert } from 'node:assert';
import { dirname } from 'node:path';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { withNatsClosed } from '../nats-closed.js';
import {
  assertNeverTwice,
  assertNoPowerWrites,
  hostRunning,
  kill,
  nowNs,
  runningNow,
  startedAfter,
} from '../observations.js';
import { idleWorkers, withoutWork } from '../operations.js';
import { onHost } from '../returns.js';
import type { Scenario } from '../scenario.js';
import { alarmCleared, alarmRaised } from '../watch.js';

const REFUSING = '/etc/systemd/system/muster-workload-w1.service.d/refuse.conf';
/** A death must be recovered within the minute, whatever else is amiss. */
const ELSEWHERE_WITHIN_MS = 60_000;

/** Hosts that are kept for recoveries are taken first. */
async function withReserve<T>(fleet: Fleet, host: string, work: () => Promise<T>): Promise<T> {
  const set = (is: true | null): Promise<unknown> =>
    fleet.api.request('PATCH', `/v1/nodes/${fleet.nodeOf(host)}`, { vars: { recovery_reserve: is } });
  await set(true);
  try {
    return await work();
  } finally {
    await set(null);
  }
}

export const V13: Scenario = {
  name: 'V13',
  needsNetns: true,
  title:
    'NATS is closed to one node, with work of its own and kept for recoveries, while another dies: the work of the dead one runs on a third within the minute, that of the mute one stays',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const mute = (await idleWorkers(fleet)).find((h) => h !== host);
    assert.ok(mute !== undefined, 'the fleet has no idle worker');
    await fleet.lab('workload', 'add', 'v13', '--on', mute);
    const began = nowNs();
    await withReserve(fleet, mute, () =>
      withNatsClosed(fleet, mute, async () => {
        await alarmRaised(fleet, 'agent-health', fleet.nodeOf(mute));
        const death = await kill(fleet, host);
        const run = await startedAfter(fleet, 'w1', death.ns, ELSEWHERE_WITHIN_MS);
        assert.ok(run.host !== mute && run.host !== host, `w1 was started on ${run.host}`);
        say(`on ${run.host} ${((run.fromNs - death.ns) / 1e9).toFixed(1)} s after the death of ${host}`);
        assert.equal((await runningNow(fleet, 'v13'))?.host, mute, 'v13 does not run where it ran');
      }),
    );
    await alarmCleared(fleet, 'agent-health', fleet.nodeOf(mute));
    await assertNeverTwice(fleet, 'w1', 'v13');
    const runs = (await fleet.history('v13'))?.runs.filter((r) => r.toNs > began);
    assert.deepEqual(
      runs?.map((r) => r.host),
      [mute],
      'v13 was started anew',
    );
    await withoutWork(fleet, 'v13');
  },
};

export const V14: Scenario = {
  name: 'V14',
  title: 'a target that refuses three starts: the workload is stopped there, and runs on another within the minute',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const target = (await idleWorkers(fleet)).find((h) => h !== host);
    assert.ok(target !== undefined, 'the fleet has no idle worker');
    const node = fleet.nodeOf(target);
    const dropIn = '[Service]\\nExecStartPre=/bin/false\\n';
    await onHost(fleet, target, `mkdir -p ${dirname(REFUSING)} && printf '${dropIn}' > ${REFUSING}`);
    try {
      await withReserve(fleet, target, async () => {
        const death = await kill(fleet, host);
        const of = (change: string) => (e: (typeof fleet.events.seen)[number]) =>
          e.kind === 'workload' && e.key === 'w1' && e.data['change'] === change;
        const placed = await fleet.events.until('w1 to be placed', of('assigned'), 30_000, death.mark);
        assert.equal(placed.data['node'], node, 'another than the reserved host was chosen');
        const run = await startedAfter(fleet, 'w1', death.ns, ELSEWHERE_WITHIN_MS);
        assert.ok(run.host !== target && run.host !== host, `w1 was started on ${run.host}`);
        assert.equal(fleet.events.seen.slice(death.mark).filter(of('stopping')).length, 1, 'it was not stopped first');
        await assertNeverTwice(fleet, 'w1');
        const w1 = (await fleet.workloads()).find((w) => w.name === 'w1');
        assert.deepEqual(
          w1?.failedOn?.map((f) => f.node),
          [node],
        );
        say(
          `refused three times on ${target}; on ${run.host} ${((run.fromNs - death.ns) / 1e9).toFixed(1)} s after the death`,
        );
      });
    } finally {
      await onHost(fleet, target, `rm -f ${REFUSING}`);
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
    await assertNeverTwice(fleet, 'w1');
    await assertNoPowerWrites(fleet, since);
    say(`started again on ${host} after ${((run.fromNs - stoppedNs) / 1e9).toFixed(1)} s`);
  },
};
