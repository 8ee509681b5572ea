import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Clock } from '#contracts/ports/clock.js';
import type { PortSign } from '#contracts/wire/life-signs.js';
import { isOfTheTarget } from '#contracts/wire/send-errors.js';

/** ms that an answer of the far side may take at most, whatever the profile. */
export const MOST_WAITED = 1000;

/**
 * Whether the kernel there says that nobody listens on this UDP port. `silent`: it took the datagram, or nothing came
 * back. Only a connected socket is told. A kernel gives one such answer a second to each asker (after a few at once), so
 * who asks twice as often misses half of them.
 * @param host a literal address
 */
export function portSign(clock: Clock, host: string, port: number, bytes: Buffer, limit: number): Promise<PortSign> {
  return new Promise((resolve) => {
    const socket = createSocket({
      type: isIPv6(host) ? 'udp6' : 'udp4',
      lookup: (address, _options, done) => done(null, address, isIPv6(address) ? 6 : 4),
    });
    let ended = false;
    const end = (sign: PortSign): void => {
      if (ended) return;
      ended = true;
      timer.cancel();
      socket.close();
      resolve(sign);
    };
    const failed = (e: NodeJS.ErrnoException): void => {
      if (e.code === 'ECONNREFUSED') end('unreachable');
      else end(isOfTheTarget(e) ? 'silent' : 'not-tried');
    };
    const timer = clock.after(Math.min(limit, MOST_WAITED), () => end('silent'));
    socket.on('error', failed);
    // Where it fails the callback has the error, and no event does.
    socket.connect(port, host, ((e?: Error) => {
      if (e) failed(e);
      else if (!ended) socket.send(bytes, (e) => e && failed(e));
    }) as () => void);
  });
}
