import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { initCluster } from '../init/init-cluster.js';

/** A real nats-server for specs: own port, own store. */
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
  pause(): void;
  resume(): void;
  /** SIGHUP: reads its configuration anew. */
  reload(): void;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (child.exitCode !== null) throw new Error(`nats-server ended with code ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const up = await Promise.race([
      once(socket, 'data').then(
        () => true,
        () => false,
      ),
      once(socket, 'error').then(
        () => false,
        () => false,
      ),
    ]);
    socket.destroy();
    if (up) return;
    await pause(25);
  }
  throw new Error('nats-server did not listen within 5 s');
}

export interface TestNatsOptions {
  /** With the users of `muster init`, and an agent's for each of these nodes. @default no users at all */
  users?: boolean;
  agents?: string[];
}

export async function startTestNats(o: TestNatsOptions = {}): Promise<TestNats> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-nats-'));
  const port = await freePort();
  const conf = join(dir, 'nats.conf');
  const listen = [`127.0.0.1:${port}`];
  const storeDir = join(dir, 'js');
  initCluster(dir, { cluster: 'spec', agents: o.agents ?? [], natsListen: listen, storeDir });
  if (!o.users) await writeFile(join(dir, 'nats-users.conf'), '');
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn('nats-server', ['-c', conf], { stdio: 'ignore' });
    await listening(port, child);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child;
    child = undefined;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const gone = once(running, 'exit');
    running.kill(signal);
    if (signal !== 'SIGKILL') running.kill('SIGCONT');
    await gone;
  };
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    dir,
    stop: async () => {
      await end('SIGTERM');
      await rm(dir, { recursive: true, force: true });
    },
    kill: () => end('SIGKILL'),
    restart: async () => {
      await end('SIGKILL');
      await start();
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    reload: () => void child?.kill('SIGHUP'),
  };
}
