import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import { MusterError } from '#contracts';

/**
 * One process per data folder: two would write the same configuration and run two servers on one store. An abstract
 * unix socket is freed by the kernel however its owner ends.
 * @throws MusterError CONFIG_INVALID when another has it
 */
export async function lockFolder(dir: string): Promise<() => void> {
  const name = createHash('sha256').update(realpathSync(dir)).digest('hex').slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  server.listen(`\0muster-standalone-${name}`);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new MusterError('CONFIG_INVALID', `another Muster runs on ${dir}`, {}, { cause });
  }
  server.unref();
  return () => void server.close();
}
