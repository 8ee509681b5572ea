import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Buckets, type AlarmRecord, type NodeView, type StatusView, type UnreadableRecord } from '#contracts';
import { until } from '../../inventory/src/testing/until.js';
import { RunningInventory } from '../../inventory/src/testing/running-inventory.js';
import { startGatewayBeside, type GatewayBeside } from './testing/gateway-beside.js';

const NODE = 'rack1-a1';

/** Values that somebody with a broken tool, or without good will, puts under a key. */
const hostile: readonly string[] = [
  '',
  'null',
  '[]',
  '7',
  '{"name":',
  '{}',
  '{"schema":9}',
  '{"__proto__":{"held":1},"constructor":{},"toString":null}',
  '{"token":1e400,"holder":"x","nonce":7,"ttlMs":5000}',
  JSON.stringify({ name: 'zzz-5', vars: 'x'.repeat(900_000) }),
  `{"deep":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
];

describe('a store with records that nobody can read', () => {
  let inventory: RunningInventory;
  let gateway: GatewayBeside;

  const ask = async <T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }> => {
    const answer = await fetch(gateway.url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as T };
  };
  /** As whoever may write the subject does it, by no program of ours. */
  const put = (bucket: string, key: string, text: string): void =>
    inventory.as('inventory').wire.publish(`$KV.${bucket}.${key}`, text);
  const unreadable = (): Promise<string[]> =>
    until(async () => {
      const { status, body } = await ask<{ items: UnreadableRecord[] }>('GET', '/v1/records/unreadable');
      return status === 200 && body.items.map((r) => `${r.bucket}/${r.key}`);
    }, 'an answer of which records cannot be read');
  const alarms = async (): Promise<AlarmRecord[]> =>
    (await ask<{ items: AlarmRecord[] }>('GET', '/v1/alarms')).body.items.filter((a) => a.code === 'record-unreadable');
  const remove = (bucket: string, key: string, o: { force?: true } = {}) =>
    ask<{ code: string }>('POST', '/v1/records/delete', { bucket, key, reason: 'spec', ...o });
  const readable = async (): Promise<void> => {
    for (const path of ['/v1/nodes', '/v1/status', `/v1/nodes/${NODE}`, '/v1/incidents', '/v1/workloads', '/v1/jobs'])
      expect([path, (await ask('GET', path)).status]).toEqual([path, 200]);
  };
  const reasons = async (): Promise<string[]> =>
    (await ask<NodeView>('GET', `/v1/nodes/${NODE}`)).body.reasons.map((r) => r.code);

  beforeAll(async () => {
    inventory = await RunningInventory.start();
    await inventory.work('provisioner', ['ansible']);
    gateway = await startGatewayBeside(inventory.as('gateway'));
    const node = { label: 'rack1', serial: 'a1', networks: { management: { address: '10.0.0.11' } } };
    await until(async () => (await ask('POST', '/v1/nodes', node)).status === 201, 'a node is registered');
  });
  afterAll(async () => {
    await gateway?.close();
    await inventory?.stop();
  });

  it('answers what it can read, says which it cannot, and is rid of those by the API', async () => {
    const written: string[] = [];
    for (const bucket of Buckets)
      hostile.forEach((text, i) => {
        put(bucket, `zzz-${i}`, text);
        written.push(`${bucket}/zzz-${i}`);
      });
    put('nodes', 'a.b$c', '{}');
    written.push('nodes/a.b$c');
    // Any object is a setting where no program follows its key.
    const must = written.filter((w) => !w.startsWith('settings/'));
    await until(async () => {
      const known = new Set(await unreadable());
      return must.every((w) => known.has(w));
    }, 'all of them are known');
    const known = await unreadable();
    await readable();
    await until(async () => (await alarms()).length === 21, 'alarms');
    expect((await alarms()).every((a) => a.severity === 'critical' && a.message.includes('cannot be read'))).toBe(true);
    const removed = await Promise.all(
      known
        .filter((w) => !w.startsWith('leases/'))
        .map((w) => remove(w.slice(0, w.indexOf('/')), w.slice(w.indexOf('/') + 1), { force: true })),
    );
    expect([...new Set(removed.map((r) => r.status))]).toEqual([204]);
    await until(async () => (await unreadable()).every((w) => w.startsWith('leases/')), 'only leases are left');
    // Those above may have been known for long enough by now to be deleted.
    put('leases', 'zzz-young', '{}');
    const refused = await until(async () => {
      const { body } = await remove('leases', 'zzz-young');
      return body?.code !== 'RECORD_UNKNOWN' && { code: body?.code };
    }, 'the young lease');
    expect(refused.code).toBe('ILLEGAL_TRANSITION');
    expect((await remove('nodes', NODE)).body.code).toBe('RECORD_UNKNOWN');
  });

  it('keeps a node out of service whose incident it cannot read, and has no other one opened', async () => {
    put('incidents', NODE, '{"phase":"closed"}');
    await until(async () => (await reasons()).includes('INCIDENT'), 'the node has an incident');
    await readable();
    const status = await ask<StatusView>('GET', '/v1/status');
    expect(status.body.incidents).toMatchObject([{ node: NODE, unreadable: 'id is missing' }]);
    expect((await ask('DELETE', `/v1/nodes/${NODE}`)).body).toMatchObject({ code: 'RECORD_UNREADABLE' });
    // Nobody hears it.
    expect((await remove('incidents', NODE)).body).toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    expect((await remove('incidents', NODE, { force: true })).status).toBe(204);
    await until(async () => !(await reasons()).includes('INCIDENT'), 'the node has no incident');
  });

  it('takes every node for held while the reservations cannot be read', async () => {
    put('admission', 'reservations', '{"held":{}}');
    await until(async () => (await reasons()).includes('VIEW_STALE'), 'out of service');
    const commission = { kind: 'commission', nodes: [NODE], hostGroup: 'service-worker' };
    expect((await ask('POST', '/v1/operations', commission)).body).toMatchObject({
      code: 'RECORD_UNREADABLE',
    });
    await readable();
    expect((await remove('admission', 'reservations')).status).toBe(204);
    await until(async () => !(await unreadable()).includes('admission/reservations'), 'readable');
  });

  it('cleans up no node while a workload cannot be read that might run there', async () => {
    put('workloads', 'web', '{"name":"web"}');
    await until(async () => (await unreadable()).includes('workloads/web'), 'known');
    expect((await ask('POST', '/v1/operations', { kind: 'decommission', nodes: [NODE] })).body).toMatchObject({
      code: 'RECORD_UNREADABLE',
    });
    await readable();
    expect((await remove('workloads', 'web')).status).toBe(204);
  });

  it('fences nothing by settings that it cannot read', async () => {
    put('settings', 'cluster', '{"cluster":"spec","fencing":{"mode":"enforce"}}');
    await until(async () => (await unreadable()).includes('settings/cluster'), 'known');
    const status = await ask<StatusView>('GET', '/v1/status');
    expect(status.body.fencing.mode).toBe('observe');
    await readable();
    expect((await remove('settings', 'cluster')).status).toBe(204);
  });
});
