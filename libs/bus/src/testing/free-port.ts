import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that the kernel gives to outgoing connections (32768 and up): among those any client may be given a
 * port between our choice and its use, and one that calls a server which is away may even be connected to itself.
 */
const FIRST = 10_240;
const LAST = 32_767;
/** Those who choose at once, in other processes, begin elsewhere. */
let next = FIRST + ((process.pid * 251) % (LAST - FIRST));

/** A port of 127.0.0.1 that nobody listened on a moment ago, and that only another choice of this kind could take. */
export async function freePort(): Promise<number> {
  for (let tries = FIRST; tries <= LAST; tries++) {
    next = next < LAST ? next + 1 : FIRST;
    const server = createServer();
    try {
      server.listen(next, '127.0.0.1');
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return next;
  }
  throw new Error(`127.0.0.1 has no free port from ${FIRST} to ${LAST}`);
}
