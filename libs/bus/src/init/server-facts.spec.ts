import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { startTestNats, type TestNats } from '../testing/nats.js';
import { readRevokerKey } from './revoker-key.js';
import { natsServers, serverFacts } from './server-facts.js';

describe('what a server of NATS tells of itself', () => {
  let nats: TestNats;
  beforeAll(async () => {
    nats = await startTestNats({ users: true });
  });
  afterAll(() => nats.stop());

  it('is asked of a real one with the key of revocations', async () => {
    const found = await natsServers({
      key: readRevokerKey(join(nats.dir, 'keys/revoker.key')),
      servers: [nats.url],
    });
    expect(found).toEqual([
      expect.objectContaining({
        name: 'muster-spec',
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        storeBytes: expect.any(Number),
        storeLimitBytes: expect.any(Number),
      }),
    ]);
    expect(found[0]).not.toHaveProperty('cluster');
  });

  it('is its name, version and cluster, when it writes to the disk, and how full its store is', () => {
    const config = { max_storage: 1000, sync_interval: 120_000_000_000 };
    const server = { name: 'a', ver: '2.14.3', cluster: 'c' };
    expect(serverFacts({ server, data: { jetstream: { config, stats: { storage: 10 } } } })).toEqual({
      name: 'a',
      version: '2.14.3',
      cluster: 'c',
      sync: 120_000,
      storeBytes: 10,
      storeLimitBytes: 1000,
    });
    const always = { ...config, sync_always: true };
    expect(serverFacts({ server, data: { jetstream: { config: always } } })?.sync).toBe('always');
  });

  it('is unknown where it is not told, and nothing where the answer is none', () => {
    expect(serverFacts({ server: { name: 'a', ver: '2.9.10' }, data: {} })).toEqual({ name: 'a', version: '2.9.10' });
    expect(serverFacts({ error: { code: 404 } })).toBeUndefined();
  });
});
