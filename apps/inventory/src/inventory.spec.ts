import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Closable } from '#bus';
import {
  RESERVATIONS_KEY,
  Subjects,
  type CommandAnswer,
  type JobRecord,
  type NodeRecord,
  type NodeResult,
  type NodeView,
  type PeerList,
  type Reservations,
} from '#contracts';
import { aJob } from './testing/fixtures.js';
import { RunningInventory, seen } from './testing/running-inventory.js';
import { until } from './testing/until.js';

let sut: RunningInventory;
let ipmitool: Closable;

beforeAll(async () => {
  sut = await RunningInventory.start({ replicas: 2, agents: ['a-1', 'nobody-1'] });
});

afterAll(async () => {
  await sut?.stop();
});

const by = { by: 'spec' };
const node = (label: string, address: string, power = false) => ({
  label,
  serial: '1',
  networks: { management: { address }, backend: { address: address.replace('10.0.0', '10.1.0') } },
  ...(power && {
    powerLevels: [[{ id: 'bmc', driver: 'ipmitool', address: '127.0.0.1', username: 'admin', password: 's3cret' }]],
  }),
});

/** Speaks as a provisioner that has carried the job out. */
async function finish(job: string, results: Record<string, NodeResult>, status: 'Complete' | 'Errored' = 'Complete') {
  // A node may be shown as moved a moment before its job's record appears.
  await seen(sut.jobs, job, () => true);
  await sut
    .as('provisioner')
    .bucket<JobRecord>('jobs')
    .mutate(job, (j) => (j ? { ...j.value, status, startedAt: 1, endedAt: 2, worker: 'p1', results } : undefined));
}
/** The node as every replica shows it once it fits: its reasons come from views that follow by moments. */
const shown = (name: string, fits: (n: NodeView) => boolean) =>
  sut.everywhere(() => sut.as('gateway').call('inventory.nodes.get', { name }), fits);
const hasReasons =
  (...codes: string[]) =>
  (n: NodeView): boolean =>
    n.reasons.map((r) => r.code).join() === codes.join();
const ok: NodeResult = { ok: true, step: 'site', checksum: 'sum-1' };

describe('inventory on a real server', () => {
  it('registers no node while nobody offers its driver, and takes it at once when a worker starts', async () => {
    const create = () => sut.as('gateway').call('inventory.nodes.create', { ...by, node: node('a', '10.0.0.1', true) });
    await expect(create()).rejects.toMatchObject({ code: 'NO_WORKERS', facts: { driver: 'ansible', offered: [] } });
    await sut.work('provisioner', ['ansible']);
    await sut.work('fencer', ['exec']);
    await expect(create()).rejects.toMatchObject({ code: 'DRIVER_UNAVAILABLE', facts: { offered: ['exec'] } });
    ipmitool = await sut.work('fencer', ['ipmitool']);
    const view = await create();
    expect(view).toMatchObject({
      name: 'a-1',
      status: 'Unallocated',
      state: 'Unknown',
      enrolled: true,
      inService: false,
    });
    expect(JSON.stringify(view)).not.toContain('s3cret');
    const secret = view.powerLevels[0]?.[0]?.secret ?? '';
    expect(secret).toMatch(/^power=a-1=bmc=/);
    expect(JSON.stringify(await sut.as('inventory').bucket('secrets').get(secret))).not.toContain('s3cret');
  });

  it('hands each agent its peers, with a version that grows', async () => {
    await sut.everywhere(
      () => sut.as('gateway').call('inventory.nodes.list', {}),
      (page) => page.items.some((n) => n.name === 'a-1'),
    );
    const first = await sut.as('agent=a-1').ask<PeerList>(Subjects.peers('a-1'), {});
    // As an agent does: it asks anew whenever it is told to.
    const told = new Promise<PeerList>((resolve) => {
      const changed = sut.as('agent=a-1').subscribe(Subjects.peersChanged('a-1'), () => {
        void sut
          .as('agent=a-1')
          .ask<PeerList>(Subjects.peers('a-1'), {})
          .then((list) => {
            if (!list.peers.some((p) => p.name === 'b-1')) return undefined;
            resolve(list);
            return changed.close();
          });
      });
    });
    await sut.as('agent=a-1').flushed();
    await sut.as('gateway').call('inventory.nodes.create', { ...by, node: node('b', '10.0.0.2') });
    const second = await told;
    expect(second.version).toBeGreaterThan(first.version);
    await expect(sut.as('agent=nobody-1').ask(Subjects.peers('nobody-1'), {})).rejects.toMatchObject({
      code: 'NODE_UNKNOWN',
    });
  });

  it('has the agents follow a node that is added, gets another address, and goes', async () => {
    const addresses: (string | undefined)[] = [];
    let changed = (): void => undefined;
    const agent = sut.as('agent=a-1');
    // As an agent does: it asks anew whenever it is told to.
    const told = agent.subscribe(Subjects.peersChanged('a-1'), () => {
      void agent.ask<PeerList>(Subjects.peers('a-1'), {}).then((list) => {
        addresses.push(list.peers.find((p) => p.name === 'c-1')?.networks['backend']);
        changed();
      });
    });
    await agent.flushed();
    const follows = async (address: string | undefined): Promise<void> => {
      while (addresses.length === 0 || addresses.at(-1) !== address)
        await new Promise<void>((resolve) => (changed = resolve));
    };
    const gateway = sut.as('gateway');
    await gateway.call('inventory.nodes.create', { ...by, node: node('c', '10.0.0.3') });
    await follows('10.1.0.3');
    const networks = { management: { address: '10.0.0.3' }, backend: { address: '10.1.0.33' } };
    await gateway.call('inventory.nodes.patch', { ...by, name: 'c-1', patch: { networks } });
    await follows('10.1.0.33');
    await gateway.call('inventory.nodes.delete', { ...by, name: 'c-1' });
    await follows(undefined);
    await told.close();
  });

  it('takes a node from UP over a commission into service', async () => {
    const submit = () =>
      sut.as('gateway').call('inventory.operations.submit', {
        ...by,
        kind: 'commission',
        nodes: ['a-1'],
        hostGroup: 'service-master',
        extraVars: { nap: 4 },
      });
    const reserved = () => sut.as('inventory').bucket<Reservations>('admission').get(RESERVATIONS_KEY);
    const before = await reserved();
    await expect(submit()).rejects.toMatchObject({ code: 'NOT_DISCOVERED' });
    await sut.verdict('a-1', 'UP');
    await seen(sut.nodes, 'a-1', (n) => n.state === 'Discovered');
    expect(await reserved()).toEqual(before);
    const { job } = await submit();
    const moved = await seen(sut.nodes, 'a-1', (n) => n.status === 'Provisioning');
    expect(moved.hostGroup).toBe('service-master');
    await expect(submit()).rejects.toMatchObject({ code: 'NODE_RESERVED', facts: { job, nodes: ['a-1'] } });
    await finish(job, { 'a-1': ok });
    await seen(sut.jobs, job, (j) => j.settled);
    expect(await shown('a-1', (n) => n.inService)).toMatchObject({
      status: 'Allocated',
      provisioned: { checksum: 'sum-1', job },
      lastJob: job,
    });
    // From the bucket: a view may not even have seen the reservation yet.
    const free = await until(async () => {
      const now = await reserved();
      return now?.value.pending[job] === undefined && now?.value;
    }, 'the reservation to be carried out');
    expect(free).toMatchObject({ held: {}, pending: {} });
  });

  it('changes no revision and no job when it refuses', async () => {
    // From the buckets: a view may show late what was written before.
    const stored = sut.as('inventory');
    const revisions = async () => [
      (await stored.bucket('admission').get(RESERVATIONS_KEY))?.revision,
      (await stored.bucket('nodes').get('a-1'))?.revision,
      (await stored.bucket('jobs').list()).map((j) => j.revision),
    ];
    const before = await revisions();
    await expect(
      sut.as('gateway').call('inventory.operations.submit', {
        ...by,
        kind: 'commission',
        nodes: ['a-1'],
        hostGroup: 'service-worker',
      }),
    ).rejects.toMatchObject({ code: 'ROLE_RULE' });
    expect(await revisions()).toEqual(before);
    expect(await sut.as('gateway').call('inventory.jobs.get', { id: 'last' })).toMatchObject({ status: 'Complete' });
  });

  it('rolls a reservation forward that its replica left without a job', async () => {
    await sut.verdict('b-1', 'UP');
    await seen(sut.nodes, 'b-1', (n) => n.state === 'Discovered');
    const job = aJob({ id: 'job-left', nodes: ['b-1'], status: 'Queued', hostGroup: 'service-worker', results: {} });
    delete job.startedAt;
    delete job.endedAt;
    await sut
      .as('inventory')
      .bucket<Reservations>('admission')
      .mutate(RESERVATIONS_KEY, (r) => ({
        generation: (r?.value.generation ?? 0) + 1,
        held: { 'b-1': { job: job.id, kind: 'commission', hostGroup: 'service-worker', generation: 9, at: 1 } },
        pending: { [job.id]: job },
      }));
    await seen(sut.jobs, 'job-left', (j) => j.status === 'Queued');
    const moved = await seen(sut.nodes, 'b-1', (n) => n.status === 'Provisioning');
    expect(moved.hostGroup).toBe('service-worker');
    await seen(sut.reservations, RESERVATIONS_KEY, (r) => r.pending['job-left'] === undefined);
    await finish('job-left', {}, 'Errored');
    await seen(sut.nodes, 'b-1', (n) => n.status === 'Unallocated');
    await seen(sut.reservations, RESERVATIONS_KEY, (r) => r.held['b-1'] === undefined);
  });

  it('checks a node that was away, and leaves it alone when all is as it was', async () => {
    await sut.verdict('a-1', 'DOWN');
    await seen(sut.nodes, 'a-1', (n) => n.state === 'Disappeared');
    await sut.verdict('a-1', 'UP');
    const waiting = await seen(sut.nodes, 'a-1', (n) => n.pendingReturn?.job !== undefined);
    expect(waiting.pendingReturn?.reason).toBe('disappeared');
    const job = waiting.pendingReturn?.job ?? '';
    expect(sut.jobs.get(job)?.value ?? (await seen(sut.jobs, job, () => true))).toMatchObject({
      kind: 'check',
      cause: 'return',
      extraVars: { nap: 4 },
    });
    await finish(job, {
      'a-1': {
        ok: true,
        step: 'check',
        check: { findings: [{ service: 'agent', result: 'ok', why: '' }], checksum: 'sum-1' },
      },
    });
    const back = await seen(sut.nodes, 'a-1', (n) => n.pendingReturn === undefined);
    expect(back.status).toBe('Allocated');
    await seen(sut.jobs, job, (j) => j.settled);
    await shown('a-1', hasReasons());
  });

  it('sets a rebooted node up again when its check finds services gone', async () => {
    await sut.verdict('a-1', 'UP', { bootId: 'boot-2' });
    const check = await seen(sut.nodes, 'a-1', (n) => n.pendingReturn?.job !== undefined);
    expect(check.pendingReturn?.reason).toBe('rebooted');
    const broken = [{ service: 'mirror', result: 'broken' as const, why: 'not running' }];
    await finish(check.pendingReturn?.job ?? '', {
      'a-1': { ok: true, step: 'check', check: { findings: broken, checksum: 'sum-1' } },
    });
    const next = await seen(
      sut.nodes,
      'a-1',
      (n) =>
        n.pendingReturn?.next === 'resetup' &&
        n.pendingReturn.job !== check.pendingReturn?.job &&
        n.pendingReturn.job !== undefined,
    );
    const told = await seen(sut.jobs, check.pendingReturn?.job ?? '', (j) => j.settled);
    expect(told.results['a-1']?.verdict).toEqual({ outcome: 'drift', why: 'mirror broken (not running)' });
    await finish(next.pendingReturn?.job ?? '', { 'a-1': { ok: true, step: 'site', checksum: 'sum-2' } });
    const back = await seen(sut.nodes, 'a-1', (n) => n.pendingReturn === undefined);
    expect(back).toMatchObject({ status: 'Allocated', provisioned: { checksum: 'sum-2' }, bootId: 'boot-2' });
  });

  it('takes every node of an external event, and refuses an empty one', async () => {
    const nodes = ['x', 'y'].map((label, i) => ({ label, serial: 'S', addr: `10.9.0.${i + 1}` }));
    expect(await sut.as('tools').ask(Subjects.monitor('discovered'), { nodes })).toEqual({
      ok: true,
      nodes: ['x-S', 'y-S'],
    });
    const found = await seen(sut.nodes, 'y-S', () => true);
    expect(found).toMatchObject({ status: 'Unallocated', state: 'Discovered', enrolled: false });
    await expect(sut.as('tools').ask(Subjects.monitor('discovered'), { nodes: [] })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    });
    await sut
      .as('tools')
      .ask(Subjects.monitor('disappeared'), { nodes: [{ label: 'a', serial: '1', addr: '10.0.0.1' }] });
    const told = await seen(sut.nodes, 'a-1', (n) => n.external?.event === 'disappeared');
    expect(told.state).toBe('Discovered');
  });

  it('answers tools in plain JSON, refusals too', async () => {
    const ask = async (q: unknown) =>
      JSON.parse(
        await sut.as('tools').wire.request(Subjects.command('check'), JSON.stringify(q), { timeoutMs: 8_000 }),
      ) as CommandAnswer;
    expect(await ask({ nodes: ['nope-1'] })).toMatchObject({ ok: false, code: 'NODE_UNKNOWN' });
    expect(await ask({ nodes: 'a-1' })).toMatchObject({ ok: false, code: 'BAD_REQUEST' });
    const accepted = await ask({ nodes: ['a-1'] });
    const job = (accepted.ok && accepted.job) || '';
    expect(accepted).toEqual({ ok: true, job: expect.stringMatching(/^job-/) });
    const cancelled = await sut.as('gateway').call('inventory.jobs.cancel', { ...by, id: job });
    expect(cancelled).toMatchObject({ status: 'Errored', cancel: { by: 'spec' } });
    await seen(sut.jobs, job, (j) => j.settled);
  });

  it('takes nodes of a driver that nobody offers out of service without a write, and back when a worker returns', async () => {
    const before = await shown('a-1', hasReasons());
    await ipmitool.close();
    const out = await shown('a-1', hasReasons('NO_POWER_WORKER'));
    expect(out.revision).toBe(before.revision);
    const status = await sut.everywhere(
      () => sut.as('gateway').call('inventory.status', {}),
      (s) => s.missingDrivers.length > 0 && s.detector?.sighted === true,
    );
    expect(status.missingDrivers).toEqual([{ driver: 'ipmitool', nodes: ['a-1'] }]);
    expect(status.detector).toMatchObject({ sighted: true, instance: 'spec' });
    const kept = (await sut.as('gateway').call('inventory.jobs.list', { status: 'Complete' })).items.length;
    expect([status.jobs.Complete > 0, status.jobs.Complete]).toEqual([true, kept]);
    expect(status.leases.map((l) => l.name)).toContain('conductor');
    await sut.work('fencer', ['ipmitool']);
    await shown('a-1', hasReasons());
  });

  it('cordons until the end that was given, and deletes only what serves nobody', async () => {
    const cordoned = await sut
      .as('gateway')
      .call('inventory.nodes.cordon', { ...by, name: 'a-1', reason: 'disk', until: Date.now() + 2_000 });
    expect(hasReasons('CORDONED')(cordoned)).toBe(true);
    // From the bucket: a view may not even have seen the cordon yet.
    await until(
      async () => (await sut.as('inventory').bucket<NodeRecord>('nodes').get('a-1'))?.value.cordon === undefined,
      'the end of the cordon',
    );
    await expect(sut.as('gateway').call('inventory.nodes.delete', { ...by, name: 'a-1' })).rejects.toMatchObject({
      code: 'ILLEGAL_TRANSITION',
    });
    await sut.as('gateway').call('inventory.nodes.delete', { ...by, name: 'x-S' });
    await expect(sut.as('gateway').call('inventory.nodes.get', { name: 'x-S' })).rejects.toMatchObject({
      code: 'NODE_UNKNOWN',
    });
  });
});
