import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decode, type User } from '@nats-io/jwt';
import { connect as connectNats } from '@nats-io/transport-node';
import {
  connectBus,
  connectedAgents,
  credentialsFile,
  initCluster,
  issueAgentCredentials,
  natsOptions,
  readAgentsKey,
  readCredentials,
  readRevokerKey,
  revokeAgentUsers,
  revokedAgentUsers,
  StoreWatch,
  type Bus,
  type BusCredentials,
  type RevocationOptions,
} from '../index.js';
import {
  startTestCluster,
  streamLeader,
  whenClusterServes,
  type ClusterMember,
  type TestCluster,
} from '../testing/nats-cluster.js';
import { newerNats } from '../testing/newer-nats.js';

const newer = newerNats();
const program = 'program' in newer ? newer.program : '';
const name = 'program' in newer ? 'three NATS servers' : `three NATS servers (skipped: ${newer.missing})`;

('program' in newer ? describe : describe.skip)(name, () => {
  let cluster: TestCluster;
  let revoker: RevocationOptions;
  const open: Bus[] = [];
  const connect = async (user: BusCredentials, servers = cluster.urls): Promise<Bus> => {
    const bus = await connectBus({ name: user.user, servers, credentials: user });
    open.push(bus);
    return bus;
  };
  const service = (kind: string): BusCredentials => readCredentials(credentialsFile(cluster.dir, kind));
  /** By this server and no other: a client that learns of them tries the rest of the cluster for ever. */
  const letIn = async (user: BusCredentials, url: string): Promise<void> => {
    const options = natsOptions({ name: user.user, servers: [url], credentials: user });
    // On a busy machine a server that was just started takes longer to answer than a product would wait.
    await (await connectNats({ ...options, reconnect: false, ignoreClusterUpdates: true, timeout: 20_000 })).close();
  };
  const leaderOf = async (bus: Bus, stream: string): Promise<ClusterMember> => {
    const leader = await streamLeader(bus, stream);
    return cluster.members.find((m) => m.name === leader)!;
  };
  const keyOf = ({ jwt }: BusCredentials): string => decode<User>(jwt).sub;

  beforeAll(async () => {
    cluster = await startTestCluster({ program, users: true });
    revoker = { key: readRevokerKey(join(cluster.dir, 'keys/revoker.key')), servers: cluster.urls };
    const bus = await connect(service('inventory'));
    await whenClusterServes(() => bus.createBuckets({ replicas: 3 }));
  });
  afterAll(async () => {
    await Promise.all(open.map((bus) => bus.close()));
    await cluster?.stop();
  });

  it('all name the agents that are connected to them', async () => {
    const agents = readAgentsKey(join(cluster.dir, 'keys/agents.key'));
    const users = await Promise.all([1, 2, 3, 4].map((n) => issueAgentCredentials(agents, `c${n}`)));
    await Promise.all(users.map((user, i) => connect(user, [cluster.urls[i % 3]!])));
    const seen = (await connectedAgents(revoker, agents)).map((a) => a.node);
    expect(seen.sort()).toEqual(['c1', 'c2', 'c3', 'c4']);
  });

  it('refuse an agent that was revoked while one of them was down, that one 5 s after its start', async () => {
    const agents = readAgentsKey(join(cluster.dir, 'keys/agents.key'));
    const [gone, stays] = [await issueAgentCredentials(agents, 'n1'), await issueAgentCredentials(agents, 'n1')];
    const third = cluster.members[2]!;
    await third.kill();
    expect(await revokeAgentUsers(revoker, [keyOf(gone)])).toEqual({ servers: 3, told: 2 });
    await third.start();
    await pause(5_000);
    for (const url of cluster.urls) await expect(letIn(gone, url)).rejects.toThrow(/authorization violation/i);
    await letIn(stays, third.url);
    expect(await revokedAgentUsers(revoker, [keyOf(gone), keyOf(stays)])).toEqual([keyOf(gone)]);
    expect(await revokeAgentUsers(revoker, [keyOf(gone)])).toEqual({ servers: 3, told: 3 });
    expect(readFileSync(join(cluster.dir, 'nats-accounts.conf'), 'utf8')).toContain('interval: "2s"');
  });

  it('refuse a user that is not theirs with its code, in seconds, whichever of them is asked', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'muster-stranger-'));
    try {
      await initCluster(dir, {
        cluster: 'other',
        agents: [],
        natsListen: ['127.0.0.1:4222'],
        storeDir: join(dir, 'js'),
      });
      const stranger = readCredentials(credentialsFile(dir, 'inventory'));
      const from = performance.now();
      for (const servers of [cluster.urls, [cluster.urls[1]!]])
        await expect(connect(stranger, servers)).rejects.toMatchObject({
          code: 'UNAUTHORIZED',
          message: `NATS at ${servers.join(', ')} refuses user inventory`,
        });
      expect(performance.now() - from).toBeLessThan(8_000);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('let services with accounts of their own read and write through each of them', async () => {
    const inventory = await connect(service('inventory'));
    const settings = inventory.bucket<unknown>('settings');
    // More than the server sends ahead of who reads.
    const big = 'x'.repeat(20_000);
    await whenClusterServes(() => settings.mutate('big.0', () => ({ big })));
    await Promise.all(Array.from({ length: 199 }, (_, i) => settings.mutate(`big.${i + 1}`, () => ({ big }))));
    for (const url of cluster.urls) {
      const bus = await connect(service('detector'), [url]);
      const keys = new Set<string>();
      let changed: () => void = () => undefined;
      const live = new Promise<void>((resolve) => {
        const told = (key: string): void => {
          keys.add(key);
          if (key === `later.${url.slice(-2)}`) changed();
        };
        bus.bucket('settings').watch({ onChange: told, onUnreadable: ({ key }) => told(key), onLive: resolve });
      });
      await live;
      expect([...keys].filter((key) => key.startsWith('big.'))).toHaveLength(200);
      const seen = new Promise<void>((resolve) => (changed = resolve));
      await settings.mutate(`later.${url.slice(-2)}`, () => ({}));
      await seen;
      await bus.emit('audit', 'three', {} as never);
    }
  });

  it('are all known to a client that was told of one', async () => {
    const bus = await connect(service('gateway'), [cluster.urls[0]!]);
    const before = bus.serverInfo?.name;
    await cluster.members.find((m) => m.name === before)!.kill();
    await until(() => bus.connected && bus.serverInfo?.name !== before, 20_000);
    await cluster.members.find((m) => m.name === before)!.start();
    await whenClusterServes(() => bus.bucket('idempotency').delete('ready.spec', undefined, { timeoutMs: 1_000 }));
  });

  it.each(['update', 'create'] as const)(
    'store the %s of a record whose first tries wait for a majority, and say so, once they have one',
    async (how) => {
      const bus = await connect(service('inventory'));
      const bucket = bus.bucket<{ n: number }>('settings');
      const key = `waits.${how}`;
      const before = how === 'update' ? await whenClusterServes(() => bucket.create(key, { n: 1 })) : 0;
      const leader = await leaderOf(bus, 'KV_settings');
      const followers = cluster.members.filter((m) => m.name !== leader.name);
      // Over the leader: what is asked of it arrives.
      const writer = (await connect(service('inventory'), [leader.url])).bucket<{ n: number }>('settings');
      await writer.get(key);
      let written: Promise<number>;
      try {
        await Promise.all(followers.map((m) => m.pause()));
        written = how === 'update' ? writer.update(key, { n: 2 }, before) : writer.create(key, { n: 2 });
        // Several tries of 500 ms, and less than a leader waits for its majority.
        await pause(1_700);
      } finally {
        await Promise.all(followers.map((m) => m.resume()));
      }
      const revision = await written;
      expect(await bucket.get(key)).toEqual({ key, value: { n: 2 }, revision });
    },
  );

  it('are waited for at a start while no stream has a leader, which is said, and no longer than was asked', async () => {
    const [first, second, third] = cluster.members;
    const lines: unknown[] = [];
    const warn = (facts: object, line: string): void => void lines.push({ ...facts, line });
    const log = { debug: () => undefined, info: () => undefined, error: () => undefined, warn };
    const own = await connectBus({ name: 'inventory', servers: [first!.url], credentials: service('inventory'), log });
    open.push(own);
    await whenClusterServes(() => own.createBuckets({ replicas: 3 }));
    lines.length = 0;
    await Promise.all([second!.kill(), third!.kill()]);
    let started: Promise<void>;
    try {
      await expect(own.createBuckets({ replicas: 3, waitMs: 3_000 })).rejects.toMatchObject({
        code: 'BUS_UNAVAILABLE',
        message: expect.stringMatching(/^stream \w+ .* 3 s: a majority /),
      });
      started = own.createBuckets({ replicas: 3, waitMs: 90_000 });
      started.catch(() => undefined);
      await until(() => lines.length >= 2, 30_000);
    } finally {
      await Promise.all([second!.start(), third!.start()]);
    }
    await started;
    // Once for each stream, and each time that it is asked for.
    for (const line of lines)
      expect(line).toMatchObject({ stream: expect.any(String), line: 'waits for a stream that no server answers for' });
  });

  it('are not ready without a majority, and ready again with it', async () => {
    const [first, second, third] = cluster.members;
    const bus = await connect(service('gateway'), [first!.url]);
    const write = () => bus.bucket('idempotency').delete('ready.spec', undefined, { timeoutMs: 1_000 });
    await whenClusterServes(write);
    const watch = new StoreWatch(bus, { streams: ['KV_idempotency'], write }).start();
    try {
      await Promise.all([second!.kill(), third!.kill()]);
      await until(() => watch.fault !== undefined, 10_000);
      await Promise.all([second!.start(), third!.start()]);
      await until(() => watch.fault === undefined, 60_000);
    } finally {
      watch.close();
    }
  });
});

async function until(what: () => boolean, limitMs: number): Promise<void> {
  const end = performance.now() + limitMs;
  while (!what()) {
    if (performance.now() > end) throw new Error('what was waited for did not happen');
    await pause(50);
  }
}
