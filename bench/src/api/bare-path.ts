import { join } from 'node:path';
import { daemon, type Daemon } from '#bus/testing/daemon.js';
import { Subjects } from '#contracts';
import type { ControlPlane } from '../control-plane.js';

const MAIN = join(import.meta.dirname, 'bare-main.js');

/** Of its two processes: where NATS is, with whose credentials, and the subject between them. */
export interface BareOptions {
  role: 'gateway' | 'service';
  nats: string;
  credentials: string;
  subject: string;
}

/** The same way as ours, a request by HTTP, over NATS to a service and back, with nothing of ours on it. */
export interface BarePath {
  url: string;
  close(): Promise<void>;
}

/**
 * A Fastify server and a service, each a process of its own, on the plane's NATS server as two of its users: the limit of
 * whatever is built so, on this machine at this moment. They end with this process.
 */
export async function startBarePath(plane: ControlPlane): Promise<BarePath> {
  const nats = `nats://127.0.0.1:${plane.natsPort}`;
  const common = {
    nats,
    credentials: plane.credentials('inventory'),
    subject: Subjects.rpc('inventory', 'bench.bare'),
  };
  const processes: Daemon[] = [];
  const close = async (): Promise<void> => {
    for (const child of processes) {
      child.kill('SIGKILL');
      await child;
    }
  };
  const start = async (role: BareOptions['role']): Promise<string> => {
    const child = daemon(process.execPath, [MAIN, JSON.stringify({ ...common, role })], {
      stdio: ['ignore', 2, 2],
      ipc: true,
    });
    processes.push(child);
    return (await child.getOneMessage()) as string;
  };
  try {
    await start('service');
    return { url: await start('gateway'), close };
  } catch (e) {
    await close();
    throw e;
  }
}
