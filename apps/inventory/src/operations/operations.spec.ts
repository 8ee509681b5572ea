import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESERVATIONS_KEY, type NodeRecord, type OperationRequest, type Reservations } from '#contracts';
import { aJob, aNode } from '../testing/fixtures.js';
import { RunningInventory, seen } from '../testing/running-inventory.js';

let sut: RunningInventory;
const names = ['a-1', 'b-1', 'c-1', 'd-1', 'e-1'];

beforeAll(async () => {
  sut = await RunningInventory.start({ replicas: 2 });
  await sut.work('provisioner', ['ansible']);
  const bucket = sut.as('inventory').bucket<NodeRecord>('nodes');
  for (const [i, name] of names.entries())
    await bucket.create(name, aNode(name, { enrolled: false, networks: { management: { address: `10.0.0.${i}` } } }));
  await Promise.all(names.map((n) => seen(sut.nodes, n, () => true)));
});

afterAll(async () => {
  await sut?.stop();
});

const submit = (node: string, o: Partial<OperationRequest> & { key?: string } = {}) =>
  sut.as('gateway').call('inventory.operations.submit', {
    by: 'spec',
    kind: 'commission',
    nodes: [node],
    hostGroup: 'service-master',
    ...o,
  });

describe('an operation', () => {
  it('of the system is shown as the active one where nobody has one, and is not cancelled as that', async () => {
    const gateway = sut.as('gateway');
    const active = () => gateway.call('inventory.jobs.get', { id: 'active' });
    await expect(active()).rejects.toMatchObject({
      code: 'JOB_UNKNOWN',
      message: `info for "active" job doesn't exist`,
    });
    await expect(gateway.call('inventory.jobs.cancel', { by: 'spec', id: 'active' })).rejects.toMatchObject({
      code: 'JOB_UNKNOWN',
      message: `info for "active" job doesn't exist`,
    });
    const { startedAt: _s, endedAt: _e, ...queued } = aJob({ status: 'Queued', desc: 'checkEvent: nodes:[e-1]' });
    const own = { ...queued, id: 'job-check', kind: 'check' as const, nodes: ['e-1'], by: 'muster' };
    await sut.as('inventory').bucket('jobs').create(own.id, own);
    await sut.everywhere(active, (j) => j.id === own.id);
    await expect(gateway.call('inventory.jobs.cancel', { by: 'spec', id: 'active' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringMatching(
        /job-check is the system's own \(checkEvent: nodes:\[e-1\]\).*by its id/,
      ) as string,
      facts: { job: own.id },
    });
    expect(sut.jobs.get(own.id)?.value.cancel).toBeUndefined();
    const ours = await submit('c-1');
    expect(await active()).toMatchObject({ id: ours.job });
    expect(await gateway.call('inventory.jobs.cancel', { by: 'spec', id: 'active' })).toMatchObject({ id: ours.job });
    await seen(sut.jobs, ours.job, (j) => j.settled);
    expect(await gateway.call('inventory.jobs.cancel', { by: 'spec', id: own.id })).toMatchObject({
      status: 'Errored',
    });
  });

  it('is shown by every replica as soon as it is accepted', async () => {
    const { job } = await submit('a-1', { timeout: 90 });
    const looks = Array.from({ length: 8 }, async () => {
      const shown = await sut.as('gateway').call('inventory.jobs.get', { id: job });
      expect(shown).toMatchObject({ status: 'Queued', nodes: ['a-1'], timeoutMs: 90_000 });
      expect(await sut.as('gateway').call('inventory.jobs.get', { id: 'active' })).toMatchObject({ id: job });
      const node = await sut.as('gateway').call('inventory.nodes.get', { name: 'a-1' });
      expect(node).toMatchObject({ status: 'Provisioning', hostGroup: 'service-master' });
    });
    await Promise.all(looks);
  });

  it('of the system is not what a person asks for as the last one, and a node is found by its address', async () => {
    const ours = await submit('e-1');
    await sut.as('gateway').call('inventory.jobs.cancel', { by: 'spec', id: ours.job });
    await seen(sut.jobs, ours.job, (j) => j.settled);
    const own = aJob({ id: 'job-own', kind: 'resetup', nodes: ['e-1'], by: 'muster', settled: true });
    await sut.as('inventory').bucket('jobs').create(own.id, own);
    await sut.everywhere(
      () => sut.as('gateway').call('inventory.jobs.list', {}),
      (all) => all.items.some((j) => j.id === own.id) && all.items.some((j) => j.id === ours.job && j.settled),
    );
    const last = await sut.as('gateway').call('inventory.jobs.get', { id: 'last' });
    expect(last.id).toBe(ours.job);
    const address = sut.nodes.get('a-1')?.value.networks['management']?.address ?? '';
    expect(await sut.as('gateway').call('inventory.nodes.get', { name: address })).toMatchObject({ name: 'a-1' });
    await expect(sut.as('gateway').call('inventory.nodes.get', { name: '10.99.99.99' })).rejects.toMatchObject({
      code: 'NODE_UNKNOWN',
    });
  });

  it('is one for one key of one caller, whichever replica is asked, and the key stands for nothing else', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => submit('b-1', { key: 'k', extraVars: { x: 1 } })),
    );
    const jobs = new Set(answers.map((a) => a.job));
    expect(jobs.size).toBe(1);
    await expect(submit('c-1', { key: 'k' })).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    const stored = await sut.as('inventory').bucket<Reservations>('admission').get(RESERVATIONS_KEY);
    expect(stored?.value.held).not.toHaveProperty('c-1');
    const [job = ''] = jobs;
    expect(await sut.as('gateway').call('inventory.jobs.get', { id: job })).not.toHaveProperty('fingerprint');
    await sut.as('gateway').call('inventory.jobs.cancel', { by: 'spec', id: job });
    await seen(sut.jobs, job, (j) => j.settled);
    expect(await submit('b-1', { key: 'k', extraVars: { x: 1 } })).toEqual({ job });
  });

  it('takes several masters down at once by a word that says so, and not without', async () => {
    const bucket = sut.as('inventory').bucket<NodeRecord>('nodes');
    const masters = ['m-1', 'm-2'];
    for (const [i, name] of masters.entries()) {
      const networks = { management: { address: `10.0.1.${i}` } };
      await bucket.create(
        name,
        aNode(name, { enrolled: false, status: 'Allocated', hostGroup: 'service-master', networks }),
      );
    }
    await sut.everywhere(
      () => sut.as('gateway').call('inventory.nodes.list', {}),
      (all) => masters.every((name) => all.items.some((n) => n.name === name)),
    );
    const update = (o: Partial<OperationRequest>) =>
      sut.as('gateway').call('inventory.operations.submit', { by: 'spec', kind: 'maintenance', nodes: masters, ...o });
    await expect(update({})).rejects.toMatchObject({ code: 'ROLE_RULE', facts: { nodes: masters } });
    const { job } = await update({ atOnce: true });
    expect(await sut.as('gateway').call('inventory.jobs.get', { id: job })).toMatchObject({
      nodes: masters,
      desc: 'updateEvent: nodes:[m-1 m-2] extra-vars:{} host-group:',
    });
  });

  it('discovers what is new of a list, and names what is known already, where that may be left out', async () => {
    const discover = (addresses: string[], o: Partial<OperationRequest> = {}) =>
      sut.as('gateway').call('inventory.operations.submit', { by: 'spec', kind: 'discover', addresses, ...o });
    const both = ['10.0.0.0', '10.7.7.7'];
    await expect(discover(both)).rejects.toMatchObject({ code: 'ALREADY_EXISTS', facts: { nodes: ['a-1'] } });
    await expect(discover(['10.0.0.0'], { skipKnown: true })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    const { job } = await discover(both, { skipKnown: true });
    expect(await sut.as('gateway').call('inventory.jobs.get', { id: job })).toMatchObject({
      addresses: ['10.7.7.7'],
      skipped: { '10.0.0.0': 'a-1' },
      desc: 'discoverEvent: addr:[10.7.7.7] extra-vars:{}',
    });
  });

  it('is refused with more variables than the value that all of them share could hold', async () => {
    await expect(submit('c-1', { extraVars: { x: 'y'.repeat(70_000) } })).rejects.toMatchObject({ code: 'TOO_LARGE' });
  });

  it('says what differs where it is a check, and is refused where it compares nothing', async () => {
    await expect(submit('c-1', { diff: true })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: 'diff: a commission compares nothing: only a check says what differs',
    });
    const set = aNode('f-1', {
      enrolled: false,
      status: 'Allocated',
      networks: { management: { address: '10.0.1.1' } },
    });
    await sut.as('inventory').bucket<NodeRecord>('nodes').create('f-1', set);
    await seen(sut.nodes, 'f-1', () => true);
    const { job } = await sut.as('gateway').call('inventory.operations.submit', {
      ...{ by: 'spec', kind: 'check', nodes: ['f-1'], diff: true },
    });
    expect(await sut.as('gateway').call('inventory.jobs.get', { id: job })).toMatchObject({ diff: true });
    const results = { 'f-1': { ok: true, step: 'check', diff: { services: [] } } };
    const told = aJob({
      id: 'job-diff',
      kind: 'check',
      nodes: ['f-1'],
      by: 'muster',
      settled: true,
      diff: true,
      results,
    });
    await sut.as('inventory').bucket('jobs').create(told.id, told);
    await seen(sut.jobs, told.id, () => true);
    const { items } = await sut.as('gateway').call('inventory.jobs.list', { node: 'f-1' });
    expect(items.find((j) => j.id === told.id)?.results).toEqual({ 'f-1': { ok: true, step: 'check' } });
    expect(await sut.as('gateway').call('inventory.jobs.get', { id: told.id })).toMatchObject({ results });
  });

  it('is found by kind and by node', async () => {
    const { job } = await submit('d-1');
    const of = async (q: { kind?: string; node?: string }) =>
      (await sut.as('gateway').call('inventory.jobs.list', q)).items.map((j) => j.id);
    await sut.everywhere(
      () => of({}),
      (all) => all.includes(job),
    );
    await seen(sut.reservations, RESERVATIONS_KEY, (r) => r.pending[job] === undefined);
    expect(await of({ node: 'd-1' })).toEqual([job]);
    expect(await of({ node: 'd-1', kind: 'check' })).toEqual([]);
    expect((await of({ kind: 'commission' }))[0]).toBe(job);
  });
});
