import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { MusterError } from '#contracts';
import type { Stalled } from '#bus';

/** What a service says of itself to whoever supervises it. */
export interface Health {
  status: 'ok' | 'stalled' | 'disconnected';
  detail?: string;
}

/** A stall is what a restart can end; to be without NATS is none. */
export function judgeHealth(stalled: readonly Stalled[], connected: boolean): Health {
  if (stalled.length > 0) {
    const names = stalled.map(({ task, forMs }) => `${task} for ${Math.round(forMs / 1000)} s`);
    return { status: 'stalled', detail: `stands still: ${names.join(', ')}` };
  }
  return connected ? { status: 'ok' } : { status: 'disconnected', detail: 'no connection to NATS' };
}

export interface HealthSocket {
  close(): Promise<void>;
}

/**
 * Answers each connection to the unix socket `path` with one line, {@link Health} as JSON, and ends it: only a process
 * whose event loop turns can. The file `pid` beside it names the process to end when it does not answer.
 * `deploy/docker/healthcheck.mjs` is who asks. Only one process may have the folder of `path`.
 * @throws MusterError CONFIG_INVALID where nothing can listen there
 */
export async function serveHealth(path: string, judge: () => Health): Promise<HealthSocket> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(`${JSON.stringify(judge())}\n`);
  });
  try {
    mkdirSync(dirname(path), { recursive: true });
    // Of a process that ended without closing it.
    rmSync(path, { force: true });
    server.listen(path);
    await once(server, 'listening');
    writeFileSync(join(dirname(path), 'pid'), `${process.pid}\n`);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new MusterError('CONFIG_INVALID', `MUSTER_HEALTH=${path}: ${why}`, {}, { cause });
  }
  server.unref();
  return {
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
