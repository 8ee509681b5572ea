// oxlint-disable-next-line no-restricted-imports -- the agent, on every node, loads no library for it
import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Holds an flock(2) through util-linux's `flock`, whose child lives as long as our end of a pipe: the lock goes with
 * this process, also when it is killed, and no service that we start can inherit it.
 */
export async function withLock<T>(file: string, waitSeconds: number, fn: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  const holder = spawn('flock', ['-w', String(waitSeconds), file, 'sh', '-c', 'echo held; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((resolve) => holder.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    holder.once('error', (e) => reject(new Error(`flock: ${e.message}`, { cause: e })));
    holder.stdout.once('data', () => resolve());
    holder.once('exit', () => reject(new Error(`another start or stop held ${file} for ${waitSeconds} s`)));
  });
  try {
    return await fn();
  } finally {
    holder.stdin.end();
    await gone;
  }
}
