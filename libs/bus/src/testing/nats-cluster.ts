import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '../bus/bus.js';
import { initCluster } from '../init/init-cluster.js';
import { freePort } from './free-port.js';
import { listening } from './nats.js';
import { SystemNats } from './nats-process.js';

/** One server of a {@link TestCluster}. */
export interface ClusterMember {
  /** `muster-1` … */
  name: string;
  url: string;
  /** Its own: configuration, store, accounts. */
  dir: string;
  /** kill -9. Resolves when it has ended. */
  kill(): Promise<void>;
  /** Resolves when it greets. */
  start(): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
}

/** Real nats-servers on loopback with routes to each other. */
export interface TestCluster {
  members: ClusterMember[];
  urls: string[];
  /** What `muster init` writes where it has users; else empty. */
  dir: string;
  /** Ends all, and removes their folders. */
  stop(): Promise<void>;
}

export interface TestClusterOptions {
  /** Path of nats-server, as `newerNats` finds it: one for all, or of each. */
  program: string | readonly string[];
  /** @default 3 */
  size?: number;
  /** With the users of `muster init`, and an agent's for each of these nodes. @default no users at all */
  users?: boolean;
  agents?: string[];
  /** Writes to the disk before it acknowledges; 2.9 does not know it. @default true */
  sync?: boolean;
  /** Folders of their stores, in their order. @default each in its own folder */
  stores?: readonly string[];
}

interface Place {
  name: string;
  dir: string;
  store: string;
  port: number;
  routePort: number;
}

export async function startTestCluster(o: TestClusterOptions): Promise<TestCluster> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-cluster-'));
  const places: Place[] = [];
  for (let i = 1; i <= (o.size ?? 3); i++) {
    const own = join(dir, `server-${i}`);
    places.push({
      name: `muster-${i}`,
      dir: own,
      store: o.stores?.[i - 1] ?? join(own, 'js'),
      port: await freePort(),
      routePort: await freePort(),
    });
  }
  const first = places[0] as Place;
  if (o.users)
    await initCluster(dir, {
      cluster: 'spec',
      natsListen: [`127.0.0.1:${first.port}`],
      storeDir: first.store,
      agents: o.agents ?? [],
    });
  const accounts = o.users ? await readFile(join(dir, 'nats-accounts.conf'), 'utf8') : undefined;
  for (const place of places) await writeServer(place, places, o.sync ?? true, accounts);
  const members = places.map((place, i) =>
    member(place, typeof o.program === 'string' ? o.program : (o.program[i] ?? '')),
  );
  const stop = async (): Promise<void> => {
    await Promise.all(members.map((m) => m.kill()));
    await rm(dir, { recursive: true, force: true });
  };
  try {
    await Promise.all(members.map((m) => m.start()));
  } catch (e) {
    await stop();
    throw e;
  }
  return { members, urls: members.map((m) => m.url), dir, stop };
}

async function writeServer(
  place: Place,
  all: readonly Place[],
  sync: boolean,
  accounts: string | undefined,
): Promise<void> {
  await mkdir(place.dir, { recursive: true });
  const routes = all.map((p) => `"nats://route:route@127.0.0.1:${p.routePort}"`).join(', ');
  await writeFile(
    join(place.dir, 'nats.conf'),
    [
      `server_name: "${place.name}"`,
      `listen: "127.0.0.1:${place.port}"`,
      'max_payload: 8MB',
      'max_control_line: 32KB',
      'ping_interval: "1s"',
      'ping_max: 2',
      `jetstream { store_dir: "${place.store}", max_file_store: 4GB${sync ? ', sync_interval: always' : ''} }`,
      'cluster {',
      '  name: spec',
      `  listen: "127.0.0.1:${place.routePort}"`,
      '  authorization { user: route, password: route, timeout: 5 }',
      `  routes: [${routes}]`,
      '}',
      ...(accounts === undefined ? [] : ['include "nats-accounts.conf"']),
      '',
    ].join('\n'),
  );
  if (accounts === undefined) return;
  // Each server keeps the accounts for itself; all begin with the same ones.
  const own = accounts.replace(/dir: "[^"]*"/, `dir: ${JSON.stringify(join(place.store, 'accounts'))}`);
  await writeFile(join(place.dir, 'nats-accounts.conf'), own);
}

function member(place: Place, program: string): ClusterMember {
  const server = new SystemNats(join(place.dir, 'nats.conf'), program);
  return {
    name: place.name,
    url: `nats://127.0.0.1:${place.port}`,
    dir: place.dir,
    kill: () => server.kill(),
    start: async () => {
      await server.start();
      await listening(place.port);
    },
    pause: () => server.signal('SIGSTOP'),
    resume: () => server.signal('SIGCONT'),
  };
}

/** Name of the server that leads a stream, by a user that may ask for it; undefined: nobody does. */
export async function streamLeader(bus: Bus, stream: string): Promise<string | undefined> {
  const text = await bus.wire.request(`$JS.API.STREAM.INFO.${stream}`, '', { timeoutMs: 5_000 });
  return (JSON.parse(text) as { cluster?: { leader?: string } }).cluster?.leader;
}

/** Until the work succeeds, which is tried again while the cluster has no leader. @throws its last failure after `limitMs` */
export async function whenClusterServes<T>(work: () => Promise<T>, limitMs = 60_000): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;)
    try {
      return await work();
    } catch (e) {
      if (performance.now() > deadline) throw e;
      await pause(100);
    }
}
