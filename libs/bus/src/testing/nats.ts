import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { initCluster } from '../init/init-cluster.js';
import { natsConfig } from '../init/nats-config.js';
import { freePort } from './free-port.js';
import { ContainerNats, SystemNats, type NatsProcess } from './nats-process.js';

/** A real nats-server for specs: own port, own store. Which one: see choose-nats.mjs. */
export interface TestNats {
  url: string;
  /** Store and, with users, what `muster init` writes: `creds/<service>.json`, `creds/agent=<node>.json`. */
  dir: string;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
  /** kill -9: what was acknowledged is on its store, connections break without a word. */
  kill(): Promise<void>;
  /** Kills it if it runs, then starts it on the same port and store. */
  restart(): Promise<void>;
  /** Freezes it, or lets it go on: connections stay open and silent. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export interface TestNatsOptions {
  /** With the users of `muster init`, and an agent's for each of these nodes. @default no users at all */
  users?: boolean;
  agents?: string[];
  /** With users: speaks TLS, by the CA and the certificate of `muster init`. @default false */
  tls?: boolean;
  /** Another nats-server than the one that specs run against: its path. */
  program?: string;
}

export async function startTestNats(o: TestNatsOptions = {}): Promise<TestNats> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-nats-'));
  const port = await freePort();
  // A published port does not reach a loopback address inside the container.
  const listen = [`${o.program === undefined && inContainer() ? '0.0.0.0' : '127.0.0.1'}:${port}`];
  const storeDir = join(dir, 'js');
  const cluster = { cluster: 'spec', natsListen: listen, storeDir };
  if (o.users) await initCluster(dir, { ...cluster, agents: o.agents ?? [], ...(o.tls === true && { plain: false }) });
  else {
    await writeFile(join(dir, 'nats.conf'), natsConfig(cluster));
    await writeFile(join(dir, 'nats-accounts.conf'), anybody);
  }
  const conf = join(dir, 'nats.conf');
  const server = o.program === undefined ? makeProcess(conf, port) : new SystemNats(conf, o.program);
  const start = async (): Promise<void> => {
    await server.start();
    await listening(port);
  };
  const stop = async (): Promise<void> => {
    await server.remove();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (e) {
    await stop();
    throw e;
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    dir,
    stop,
    kill: () => server.kill(),
    restart: async () => {
      await server.kill();
      await start();
    },
    pause: () => server.signal('SIGSTOP'),
    resume: () => server.signal('SIGCONT'),
  };
}

/** Testcontainers always sets a user and a password; users in the file win, and who gives none becomes this one. */
const anybody = 'no_auth_user: anybody\nauthorization { users: [{ user: anybody, password: anybody }] }\n';

const inContainer = (): boolean => process.env['MUSTER_TEST_NATS'] === 'docker';

const makeProcess = (conf: string, port: number): NatsProcess =>
  inContainer() ? new ContainerNats(conf, port, process.env['NATS_IMAGE'] ?? 'nats:2.12-alpine') : new SystemNats(conf);

/** A minute: a machine that is busy with others starts a process in seconds. It ends what hangs. */
const LOOKS = 2_400;

/** Until the server greets. */
export async function listening(port: number, host = '127.0.0.1'): Promise<void> {
  for (let i = 0; i < LOOKS; i++) {
    const socket = connect(port, host);
    const greeted = await new Promise<boolean>((resolve) => {
      socket.once('data', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('close', () => resolve(false));
    });
    socket.destroy();
    if (greeted) return;
    await pause(25);
  }
  throw new Error(`nats-server does not listen on ${host}:${port}`);
}
