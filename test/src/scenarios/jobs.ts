import { strict as assert } from 'node:assert';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import {
  closeGate,
  completed,
  ended,
  freeHosts,
  gated,
  idleWorkers,
  openGate,
  refused,
  start,
  statuses,
  waitAtGate,
  withPlaybook,
} from '../operations.js';
import type { Scenario } from '../scenario.js';

export const O2: Scenario = {
  name: 'O2',
  title: 'two requests on disjoint nodes run side by side; on a shared node the second is refused and names the job',
  async run(fleet) {
    const hosts = await idleWorkers(fleet);
    const [one, two] = hosts.map((h) => fleet.nodeOf(h));
    assert.ok(one !== undefined && two !== undefined, 'the fleet has too few idle workers');
    const pair = [fleet.hostOf(one), fleet.hostOf(two)];
    await withPlaybook(fleet, 'check.yml', gated(fleet, 'check.yml'), async () => {
      const check = (node: string): Promise<{ job: string }> =>
        fleet.api.post('/v1/operations', { kind: 'check', nodes: [node] });
      const jobs = await Promise.all([check(one), check(two)]);
      try {
        await waitAtGate(fleet, pair);
        const records = await Promise.all(jobs.map((j) => fleet.job(j.job)));
        assert.deepEqual(
          records.map((j) => j.status),
          ['Running', 'Running'],
        );
        const shared = new RegExp(`^there is already an active job.*${jobs[0].job}.*${one}`);
        await refused(fleet, '/decommission/nodes', { nodes: [one] }, shared);
      } finally {
        await openGate(fleet, pair);
      }
      for (const { job } of jobs) await completed(fleet, await fleet.job(job));
      await closeGate(fleet, pair);
    });
  },
};

export const O4: Scenario = {
  name: 'O4',
  needsNetns: true,
  title: 'decommission with a failing cleanup: Decommissioned, and the job and the result of that node say so',
  async run(fleet) {
    const [good, bad] = await idleWorkers(fleet);
    assert.ok(good !== undefined && bad !== undefined, 'the fleet has too few idle workers');
    const nodes = [good, bad].map((h) => fleet.nodeOf(h));
    const wall = await obstacle(fleet, bad);
    const job = await ended(fleet, await start(fleet, '/decommission/nodes', { nodes }));
    await wall.remove();
    assert.equal(job.status, 'Errored');
    assert.match(job.error, new RegExp(`cleanup failed on ${fleet.nodeOf(bad)} `));
    assert.deepEqual(await statuses(fleet, [good, bad]), ['Decommissioned', 'Decommissioned']);
    const [goodResult, badResult] = nodes.map((n) => job.results[n]);
    assert.equal(goodResult?.ok, true, JSON.stringify(goodResult));
    assert.equal(goodResult.cleanupFailed, undefined);
    assert.equal(badResult?.cleanupFailed, true, JSON.stringify(badResult));
    assert.ok(badResult.failedTask && badResult.message, `no failing task: ${JSON.stringify(badResult)}`);
  },
};

export const O3: Scenario = {
  name: 'O3',
  needsNetns: true,
  title: 'site fails on one of three nodes: cleanup on all three, all Unallocated, and the request can be repeated',
  async run(fleet, say) {
    const hosts = await freeHosts(fleet, 3);
    const nodes = hosts.map((h) => fleet.nodeOf(h));
    const request = { nodes, host_group: 'service-worker' };
    const bad = hosts[1] as string;
    const wall = await obstacle(fleet, bad);
    const failed = await ended(fleet, await start(fleet, '/commission/nodes', request));
    await wall.remove();
    assert.equal(failed.status, 'Errored');
    assert.deepEqual(await statuses(fleet, hosts), ['Unallocated', 'Unallocated', 'Unallocated']);
    const culprit = failed.results[fleet.nodeOf(bad)];
    assert.ok(culprit?.failedTask, JSON.stringify(culprit));
    for (const h of hosts) assert.equal(await installed(fleet, h), false, `${h} was not cleaned up`);
    say(`"${culprit.failedTask}" failed on ${bad}`);
    await completed(fleet, await start(fleet, '/commission/nodes', request));
    assert.deepEqual(await statuses(fleet, hosts), ['Allocated', 'Allocated', 'Allocated']);
  },
};

/** Something where the mirror's configuration has its place that neither site nor cleanup can take away. */
async function obstacle(fleet: Fleet, host: string): Promise<{ remove(): Promise<void> }> {
  const sh = (command: string): Promise<unknown> => fleet.lab('exec', host, '--', 'sh', '-c', command);
  await sh(
    'rm -rf /etc/muster-mirror && mkdir -p /etc/muster-mirror/mirror.json && mount -t tmpfs none /etc/muster-mirror/mirror.json',
  );
  return {
    remove: async () => {
      await sh('umount /etc/muster-mirror/mirror.json && rm -rf /etc/muster-mirror');
    },
  };
}

const installed = async (fleet: Fleet, host: string): Promise<boolean> => {
  const { stdout } = await fleet.lab<{ stdout: string }>('exec', host, '--', 'ls', '/etc/systemd/system');
  return stdout.includes('muster-mirror');
};
