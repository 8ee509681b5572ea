import { createSocket } from 'node:dgram';
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

/** A TCP port of 127.0.0.1 that nobody listened on a moment ago, and that only another choice of this kind could take. */
export const freePort = (): Promise<number> =>
  firstFree(async (port) => {
    const server = createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  });

/** As {@link freePort}, of UDP. */
export const freeUdpPort = (): Promise<number> =>
  firstFree(async (port) => {
    const socket = createSocket('udp4');
    socket.bind(port, '127.0.0.1');
    await once(socket, 'listening');
    socket.close();
    await once(socket, 'close');
  });

async function firstFree(open: (port: number) => Promise<void>): Promise<number> {
  for (let tries = FIRST; tries <= LAST; tries++) {
    next = next < LAST ? next + 1 : FIRST;
    const port = next;
    try {
      await open(port);
      return port;
    } catch {
      // Somebody has it.
    }
  }
  throw new Error(`127.0.0.1 has no free port from ${FIRST} to ${LAST}`);
}
