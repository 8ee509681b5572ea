import { describe, expect, it } from 'vitest';
import { defaultHostGroups, MusterError, refusedInDoubt, type NodeRecord } from '#contracts';
import type { Entry } from '#bus';
import { NodeService } from '../nodes/node.service.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { aNode } from '../testing/fixtures.js';
import { aDevice } from '../testing/records.js';
import { NodesService } from './nodes.service.js';
import { secretsOf } from './power-secrets.js';

/** Its first write is taken, and nobody is told so; before the second try somebody else has written the record. */
function world(at: NodeRecord | undefined) {
  let entry: Entry<NodeRecord> | undefined = at && { key: at.name, value: at, revision: 1 };
  const passwords = new Set<string>();
  const write = (value: NodeRecord): void => {
    entry = { key: value.name, value, revision: (entry?.revision ?? 0) + 1 };
  };
  const bucket = {
    get: async () => Promise.resolve(entry),
    mutate: async (
      _key: string,
      fn: (now: typeof entry) => NodeRecord | undefined | Promise<NodeRecord | undefined>,
    ) => {
      write((await fn(entry)) as NodeRecord);
      write({ ...(entry as Entry<NodeRecord>).value, bootId: 'boot-2' });
      try {
        await fn(entry);
      } catch (e) {
        throw refusedInDoubt(e);
      }
      throw new MusterError('INTERNAL', 'the second try was to be refused');
    },
  };
  const none = { get: async () => Promise.resolve(undefined) };
  const store = {
    clock: { wallMs: () => 1 },
    random: { hex: () => '0a0b0c' },
    clusterSettings: { hostGroups: defaultHostGroups },
    nodes: { bucket, view: { get: () => entry, entries: () => (entry ? [entry] : []) } },
    reservations: { bucket: none },
    incidents: { bucket: none },
  } as unknown as InventoryStore;
  const secrets = {
    keep: async (kept: object) => Promise.resolve(Object.keys(kept).forEach((key) => passwords.add(key))),
    drop: async (keys: Iterable<string>) => Promise.resolve([...keys].forEach((key) => passwords.delete(key))),
    known: async () => Promise.resolve(() => false),
  };
  const service = { offered: () => ['ipmitool', 'ansible'] };
  const names = { of: () => [] };
  const rest = [service, secrets, {}, names] as unknown as [never, never, never, never];
  const sut = new NodesService(store, new NodeService(store), ...rest);
  return { sut, passwords, referred: () => secretsOf((entry as Entry<NodeRecord>).value) };
}

const device = { id: 'bmc', driver: 'ipmitool', address: '10.0.1.1', username: 'admin', password: 's3cret' };
const networks = { management: { address: '10.0.0.1' } };

describe('passwords of a node whose record was written, though nobody was told so', () => {
  it('stay where the second try of an edit is refused for its revision: the record refers to them', async () => {
    const { sut, passwords, referred } = world(aNode('a-1', { powerLevels: [[aDevice()]] }));
    const edit = sut.patch('a-1', { powerLevels: [[device]] }, 1);
    await expect(edit).rejects.toMatchObject({ cause: { code: 'REVISION_CONFLICT' } });
    expect([referred().length, [...passwords]]).toEqual([1, referred()]);
  });

  it('stay where the second try of a registration finds the node registered', async () => {
    const { sut, passwords, referred } = world(undefined);
    const create = sut.create({ label: 'a', serial: '1', networks, powerLevels: [[device]] } as never);
    await expect(create).rejects.toMatchObject({ cause: { code: 'ALREADY_EXISTS' } });
    expect([referred().length, [...passwords]]).toEqual([1, referred()]);
  });
});
