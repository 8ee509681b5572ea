import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Closable } from '#bus';
import { RESERVATIONS_KEY, type ClaimRequest, type NodeRecord, type Reservations } from '#contracts';
import { aNode } from '../testing/fixtures.js';
import { RunningInventory, seen } from '../testing/running-inventory.js';
import { until } from '../testing/until.js';

let sut: RunningInventory;
let provisioner: Closable;

const names = ['a-1', 'b-1', 'c-1'];
const by = { by: 'spec' };

beforeAll(async () => {
  sut = await RunningInventory.start({ replicas: 2 });
  provisioner = await sut.work('provisioner', ['ansible']);
  const bucket = sut.as('inventory').bucket<NodeRecord>('nodes');
  for (const [i, name] of names.entries())
    await bucket.create(
      name,
      aNode(name, {
        status: 'Allocated',
        hostGroup: 'service-worker',
        failureDomain: `rack-${i}`,
        vars: { rack: `r${i}` },
        networks: { management: { address: `10.0.0.${i}` } },
      }),
    );
  await Promise.all(names.map((n) => seen(sut.nodes, n, () => true)));
});

afterAll(async () => {
  await sut?.stop();
});

const claim = (o: Partial<ClaimRequest> & { key?: string } = {}) =>
  sut.as('gateway').call('inventory.claims.create', { ...by, owner: 'nomad', count: 1, ...o });
/** From the bucket: a view may not even have seen the claim yet. */
const end = (id: string) =>
  until(async () => {
    const now = await sut.as('inventory').bucket<Reservations>('admission').get(RESERVATIONS_KEY);
    return now?.value.claims?.[id] === undefined && now?.value;
  }, 'the end of the claim');
const release = (id: string) => sut.as('gateway').call('inventory.claims.delete', { ...by, id });
const revision = async () =>
  (await sut.as('inventory').bucket<Reservations>('admission').get(RESERVATIONS_KEY))?.revision;

/** Each replica has heard a beacon, and of the worker. */
const served = () =>
  sut.everywhere(
    () => sut.as('gateway').call('inventory.nodes.list', { inService: true }),
    (page) => page.items.length === names.length,
  );

describe('claims', () => {
  it('take what is in service and fits, all or none, and no node twice', async () => {
    await served();
    const one = await claim({ selector: 'vars.rack=r1' });
    expect(one).toMatchObject({ nodes: ['b-1'], owner: 'nomad', selector: 'vars.rack=r1' });
    const before = await revision();
    await expect(claim({ count: 3 })).rejects.toMatchObject({
      code: 'NO_SERVICEABLE_NODE',
      facts: { wanted: 3, serviceable: 2, reasons: { RESERVED: 1 } },
    });
    expect(await revision()).toBe(before);
    const both = await Promise.all([claim(), claim()]);
    expect(new Set(both.flatMap((c) => c.nodes)).size).toBe(2);
    for (const c of [one, ...both]) await release(c.id);
    expect(await sut.as('gateway').call('inventory.claims.list', { owner: 'nobody' })).toEqual({ items: [] });
    await expect(release(one.id)).rejects.toMatchObject({ code: 'CLAIM_UNKNOWN' });
    await seen(sut.reservations, RESERVATIONS_KEY, (r) => Object.keys(r.held).length === 0);
  });

  it('refuse operations on their nodes, by the name of the claim, and are kept by a node that dies', async () => {
    const taken = await claim({ selector: 'name=a-1' });
    await expect(
      sut.as('gateway').call('inventory.operations.submit', { ...by, kind: 'check', nodes: ['a-1'] }),
    ).rejects.toMatchObject({ code: 'NODE_RESERVED', facts: { claim: taken.id, nodes: ['a-1'] } });
    await sut.verdict('a-1', 'DOWN');
    await seen(sut.nodes, 'a-1', (n) => n.state === 'Disappeared');
    expect(await sut.as('gateway').call('inventory.claims.get', { id: taken.id })).toEqual(taken);
    const view = await sut.everywhere(
      () => sut.as('gateway').call('inventory.nodes.get', { name: 'a-1' }),
      (n) => n.claim === taken.id,
    );
    expect(view.inService).toBe(false);
    expect(view.reasons.map((r) => r.code)).toContain('STATE');
    await sut.verdict('a-1', 'UP');
    await seen(sut.nodes, 'a-1', (n) => n.state === 'Discovered');
    await release(taken.id);
  });

  it('never take a node that a job holds, and take it again when the job has ended', async () => {
    const { job } = await sut
      .as('gateway')
      .call('inventory.operations.submit', { ...by, kind: 'check', nodes: ['b-1'] });
    await expect(claim({ selector: 'name=b-1' })).rejects.toMatchObject({
      code: 'NO_SERVICEABLE_NODE',
      facts: { reasons: { RESERVED: 1 } },
    });
    await sut.as('gateway').call('inventory.jobs.cancel', { ...by, id: job });
    await seen(sut.jobs, job, (j) => j.settled);
    await release((await claim({ selector: 'name=b-1' })).id);
  });

  it('are one for one key, and refuse the key for another request', async () => {
    const [one, two] = await Promise.all([claim({ key: 'k' }), claim({ key: 'k' })]);
    expect(two).toEqual(one);
    await expect(claim({ key: 'k', count: 2 })).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    await release(one.id);
  });

  it('are confirmed where who took them died before that, and it is asked for again', async () => {
    const key = 'of-the-dead';
    const first = await claim({ key, selector: 'name=b-1' });
    expect(first).not.toHaveProperty('pending');
    await sut
      .as('inventory')
      .bucket<Reservations>('admission')
      .mutate(RESERVATIONS_KEY, (r) => {
        const before = r?.value.claims?.[first.id];
        const claims = before && { ...r?.value.claims, [first.id]: { ...before, pending: true } };
        return r && claims && { ...r.value, claims: claims as Reservations['claims'] & object };
      });
    expect(await claim({ key, selector: 'name=b-1' })).toEqual(first);
    await release(first.id);
  });

  it('end by themselves', async () => {
    const { id } = await claim({ ttl: 1 });
    const freed = await end(id);
    expect(Object.values(freed.held).map((h) => h.claim)).not.toContain(id);
    await expect(release(id)).rejects.toMatchObject({ code: 'CLAIM_UNKNOWN' });
  });

  it('are refused at once without workers, and for what is no host group and no selector', async () => {
    await expect(claim({ hostGroup: 'foo' })).rejects.toMatchObject({ code: 'HOST_GROUP_INVALID' });
    await expect(claim({ selector: 'colour=red' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await provisioner.close();
    await sut.everywhere(
      () => sut.as('gateway').call('inventory.workers.list', {}),
      (live) => live.items.length === 0,
    );
    await expect(claim()).rejects.toMatchObject({
      code: 'NO_SERVICEABLE_NODE',
      facts: { reasons: { NO_PROVISION_WORKER: 3 } },
    });
  });
});
