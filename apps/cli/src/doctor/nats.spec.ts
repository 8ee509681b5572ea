import { describe, expect, it } from 'vitest';
import type { BusFacts, NatsServerFacts, StoreDisk } from '#contracts';
import { natsFindings } from './nats.js';

const GiB = 1024 ** 3;
const server = (o: Partial<NatsServerFacts> = {}): NatsServerFacts => ({
  name: 'nats-a',
  version: '2.14.3',
  sync: 'always',
  storeBytes: GiB,
  storeLimitBytes: 10 * GiB,
  ...o,
});
const disk = (freeBytes: number, o: Partial<StoreDisk> = {}): StoreDisk => ({
  ...{ path: '/srv', totalBytes: 100 * GiB, freeBytes },
  ...o,
});
const bus = (o: Partial<BusFacts> = {}): BusFacts => ({
  configured: 1,
  replicas: 1,
  servers: { items: [server()] },
  streams: { items: [{ name: 'KV_nodes', replicas: 1 }] },
  ownAccounts: true,
  disks: [disk(50 * GiB)],
  ...o,
});
const sut = (o: Partial<BusFacts> = {}) => natsFindings({ value: bus(o) });
const state = (check: string, o: Partial<BusFacts>) => sut(o).find((f) => f.check === check)?.state;
const ofServer = (check: string, o: Partial<NatsServerFacts>) => {
  const { cluster: _none, ...alone } = server();
  return state(check, { servers: { items: [{ ...alone, ...o }] } });
};
const { sync: _sync, storeBytes: _bytes, ...mute } = server();

describe('the doctor on the bus', () => {
  it('is content with one server of today, its copies, and room on its disk', () => {
    expect(new Set(sut().map((f) => f.state))).toEqual(new Set(['ok']));
    expect(sut().map((f) => f.check)).toEqual([
      'nats.servers',
      'nats.version',
      'nats.sync',
      'nats.store',
      'nats.replicas',
      'nats.accounts',
      'nats.disk',
    ]);
  });

  it('warns where services share the account of the records, and says what it cannot know', () => {
    expect(state('nats.accounts', { ownAccounts: false })).toBe('warn');
    const { ownAccounts: _own, ...rest } = bus();
    expect(natsFindings({ value: rest }).find((f) => f.check === 'nats.accounts')?.state).toBe('unknown');
  });

  it('misses a server of a cluster', () => {
    expect(state('nats.servers', { replicas: 3, servers: { items: [server(), server({ name: 'nats-b' })] } })).toBe(
      'bad',
    );
  });

  it.each([
    ['2.9.9', undefined, 'bad'],
    ['2.9.10', undefined, 'warn'],
    ['2.10.22', undefined, 'warn'],
    ['2.10.23', undefined, 'ok'],
    ['2.12.11', 'c', 'bad'],
    ['2.12.12', 'c', 'ok'],
    ['2.13.9', 'c', 'bad'],
    ['2.14.2', 'c', 'bad'],
    ['2.14.3', 'c', 'ok'],
    ['2.15.0-RC.1', 'c', 'ok'],
  ])('judges version %s of cluster %s: %s', (version, cluster, expected) => {
    expect(ofServer('nats.version', { version, ...(cluster !== undefined && { cluster }) })).toBe(expected);
  });

  it('warns of a server that writes to its disk late, of a cluster it is broken, and does not guess', () => {
    expect(ofServer('nats.sync', { sync: 120_000 })).toBe('warn');
    expect(ofServer('nats.sync', { sync: 120_000, cluster: 'c' })).toBe('bad');
    expect(state('nats.sync', { servers: { items: [{ ...mute, version: '2.9.10' }] } })).toBe('warn');
    expect(state('nats.sync', { servers: { items: [mute] } })).toBe('unknown');
  });

  it('warns of a store that fills up, and of a disk', () => {
    expect(ofServer('nats.store', { storeBytes: 8 * GiB })).toBe('warn');
    expect(ofServer('nats.store', { storeBytes: 9.6 * GiB })).toBe('bad');
    expect(state('nats.store', { servers: { items: [mute] } })).toBe('unknown');
    expect(state('nats.disk', { disks: [disk(20 * GiB)] })).toBe('warn');
    expect(state('nats.disk', { disks: [disk(4 * GiB)] })).toBe('bad');
    expect(state('nats.disk', { disks: [disk(1024)] })).toBe('bad');
    expect(state('nats.disk', { disks: [] })).toBe('unknown');
    const { disks: _none, ...ofBefore } = bus();
    expect(natsFindings({ value: ofBefore }).find((f) => f.check === 'nats.disk')?.state).toBe('unknown');
  });

  it('looks at the disk of every control host, and knows nothing of one that nobody tells of', () => {
    const three = ['ctl1', 'ctl2', 'ctl3'];
    const found = (disks: StoreDisk[]) =>
      sut({ replicas: 3, servers: { items: three.map((name) => server({ name, cluster: 'c' })) }, disks }).flatMap(
        (f) => (f.check === 'nats.disk' ? [`${f.subject} ${f.state}`] : []),
      );
    const at = (host: string, freeBytes = 50 * GiB, o: Partial<StoreDisk> = {}) => disk(freeBytes, { host, ...o });
    expect(found(three.map((host) => at(host)))).toEqual(['ctl1 ok', 'ctl2 ok', 'ctl3 ok']);
    expect(found([at('ctl1'), at('ctl2', 4 * GiB), at('ctl3')])).toEqual(['ctl1 ok', 'ctl2 bad', 'ctl3 ok']);
    expect(found([at('ctl1'), at('ctl3')])).toEqual(['ctl1 ok', 'ctl3 ok', 'ctl2 unknown']);
    const silent = { ageMs: 3_600_000 };
    expect(found([at('ctl1'), at('ctl2', 50 * GiB, silent), at('ctl3')])).toEqual([
      'ctl1 ok',
      'ctl2 unknown',
      'ctl3 ok',
    ]);
    // A host that is none any more; and servers that are called otherwise than their hosts.
    expect(found([...three.map((host) => at(host)), at('gone', 1024, silent)])).toHaveLength(3);
    expect(found(['a', 'b', 'c'].map((host) => at(host)))).toEqual(['a ok', 'b ok', 'c ok']);
  });

  it('finds each stream with too few copies, one that lags, and one that nobody leads', () => {
    const items = [
      { name: 'A', replicas: 1 },
      { name: 'B', replicas: 3, behind: ['nats-c'] },
      { name: 'C', replicas: 3, leaderless: true as const },
      { name: 'D', replicas: 3 },
    ];
    const found = sut({ replicas: 3, streams: { items } }).filter((f) => f.check === 'nats.replicas');
    expect(found.map((f) => [f.subject, f.state])).toEqual([
      ['A', 'bad'],
      ['B', 'bad'],
      ['C', 'bad'],
    ]);
  });

  it('says unknown where nobody could be asked, never ok', () => {
    const failed = { failed: 'no Muster at 127.0.0.1:9007' };
    expect(new Set(natsFindings(failed).map((f) => f.state))).toEqual(new Set(['unknown']));
    const half = sut({ servers: failed, streams: failed });
    expect(half.filter((f) => f.state === 'ok').map((f) => f.check)).toEqual(['nats.accounts', 'nats.disk']);
  });
});
