import { strict as assert } from 'node:assert';
import type { JobRecord } from '#contracts';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import {
  assertNeverTwice,
  assertNoPowerWrites,
  kill,
  nowNs,
  powerWrites,
  runningNow,
  startedAfter,
} from '../observations.js';
import {
  closeGate,
  completed,
  ended,
  gated,
  idleWorkers,
  openGate,
  start,
  statuses,
  waitAtGate,
  withoutWork,
  withPlaybook,
} from '../operations.js';
import type { Scenario } from '../scenario.js';
import { hostNames } from '../watch.js';

/** A death must be recovered within the minute. */
const ELSEWHERE_WITHIN_MS = 60_000;

/** A maintenance that empties its nodes first. */
async function maintain(fleet: Fleet, hosts: readonly string[]): Promise<JobRecord> {
  const nodes = hosts.map((h) => fleet.nodeOf(h));
  const { job } = await fleet.api.post<{ job: string }>('/v1/operations', { kind: 'maintenance', nodes, force: true });
  return fleet.job(job);
}

/** Two idle workers: one that has this work now, and another. */
async function workersWith(fleet: Fleet, workload: string): Promise<[string, string]> {
  const [busy, idle] = await idleWorkers(fleet);
  assert.ok(busy !== undefined && idle !== undefined, 'the fleet has too few idle workers');
  await fleet.lab('workload', 'add', workload, '--on', busy);
  return [busy, idle];
}

export const O15: Scenario = {
  name: 'O15',
  title:
    'a host dies while its work still leaves it for a forced maintenance: it is fenced, its work runs elsewhere, the job is called off unbegun, and it serves again after its check',
  async run(fleet, say) {
    const [host] = await workersWith(fleet, 'o15');
    const node = fleet.nodeOf(host);
    const others = hostNames(fleet).filter((h) => h !== host);
    await openGate(fleet, others);
    const { job, death } = await withPlaybook(fleet, 'recover.yml', gated(fleet, 'recover.yml'), async () => {
      const waiting = await maintain(fleet, [host]);
      // The stop of what runs there: nothing has left it yet.
      await waitAtGate(fleet, [host]);
      const { status, moving } = await fleet.job(waiting.id);
      assert.deepEqual([status, moving], ['Queued', ['o15']]);
      const died = await kill(fleet, host);
      const run = await startedAfter(fleet, 'o15', died.ns, ELSEWHERE_WITHIN_MS);
      assert.notEqual(run.host, host);
      say(`on ${run.host} ${((run.fromNs - died.ns) / 1e9).toFixed(1)} s after the death of ${host}`);
      return { job: waiting, death: died };
    });
    await closeGate(fleet, others);
    const off = await ended(fleet, job);
    assert.deepEqual([off.status, off.startedAt, off.worker], ['Errored', undefined, undefined]);
    assert.equal(off.error, `${node} was powered off before it began: order it again when it serves`);
    await fleet.events.inService(node, 150_000, death.mark);
    assert.deepEqual(await statuses(fleet, [host]), ['Allocated']);
    assert.deepEqual(await powerWrites(fleet, host, death.ns), ['off', 'on']);
    await assertNeverTwice(fleet, 'o15');
    await withoutWork(fleet, 'o15');
  },
};

export const O16: Scenario = {
  name: 'O16',
  title:
    'one of two hosts dies in the cleanup of a forced maintenance: its incident is held and no power command given, its work stays where it went, both end Unallocated, nothing is begun on its return, and both can be commissioned',
  async run(fleet, say) {
    const hosts = await workersWith(fleet, 'o16');
    const [host, partner] = hosts;
    const [node, other] = hosts.map((h) => fleet.nodeOf(h)) as [string, string];
    const since = nowNs();
    const { death, went } = await withPlaybook(fleet, 'cleanup.yml', gated(fleet, 'cleanup.yml'), async () => {
      const job = await maintain(fleet, hosts);
      await waitAtGate(fleet, hosts);
      assert.equal((await fleet.job(job.id)).status, 'Running');
      assert.deepEqual(await statuses(fleet, hosts), ['Maintenance', 'Maintenance']);
      const moved = await fleet.until('o16 to run', () => runningNow(fleet, 'o16'), 30_000);
      assert.ok(!hosts.includes(moved.host), `o16 runs on ${moved.host}`);

      const died = await kill(fleet, host);
      await fleet.events.verdict(node, 'DOWN', 15_000, died.mark);
      await openGate(fleet, [partner]);
      const done = await ended(fleet, job);
      say(`the job ended ${((nowNs() - died.ns) / 1e9).toFixed(1)} s after the death of ${host}`);
      assert.equal(done.status, 'Errored');
      assert.match(done.error, new RegExp(`^cleanup failed on ${node} `));
      assert.ok(!done.error.includes(other), done.error);
      const [dead, living] = [done.results[node], done.results[other]];
      assert.deepEqual([dead?.ok, dead?.step, dead?.unreachable], [false, 'cleanup', true], JSON.stringify(dead));
      assert.deepEqual([living?.ok, living?.step], [false, 'cleanup'], JSON.stringify(living));
      assert.match(living?.message ?? '', /^cleaned up and not set up again: /);
      return { death: died, went: moved };
    });
    await closeGate(fleet, [partner]);
    assert.deepEqual(await statuses(fleet, hosts), ['Unallocated', 'Unallocated']);
    const held = fleet.events.seen.slice(death.mark).filter((e) => e.kind === 'incident' && e.key === node);
    say(`its incident: ${held.map((e) => e.data['phase']).join(', ')}`);
    assert.ok(
      held.some((e) => e.data['gate'] === 'NOT_FENCEABLE'),
      'what holds its incident is not told',
    );
    const acted = held.filter((e) => ['fencing', 'fenced', 'recovering'].includes(e.data['phase'] as string));
    assert.deepEqual(acted, [], 'its incident led to an act');

    const booted = fleet.events.mark();
    await fleet.lab('boot', host);
    await fleet.events.verdict(node, 'UP', 60_000, booted);
    // What its return had begun would hold it now.
    const commission = { nodes: [node, other], host_group: 'service-worker' };
    await completed(fleet, await start(fleet, '/commission/nodes', commission), 180_000);
    const begun = fleet.events.seen.slice(death.mark).filter((e) => e.kind === 'check' || e.kind === 'resetup');
    assert.deepEqual(begun, [], 'its return was checked');
    const run = await fleet.until('o16 to run', () => runningNow(fleet, 'o16'), 30_000);
    assert.deepEqual([run.host, run.fromNs], [went.host, went.fromNs], 'o16 was started anew');
    await assertNeverTwice(fleet, 'o16');
    await assertNoPowerWrites(fleet, since);
    await withoutWork(fleet, 'o16');
  },
};
