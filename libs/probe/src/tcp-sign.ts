import { connect } from 'node:net';
import type { Clock } from '#contracts/ports/clock.js';
import type { SshSign } from '#contracts/wire/life-signs.js';
import { isOfTheTarget } from '#contracts/wire/send-errors.js';

/** ms for connection and first words. */
const TCP_LIMIT = 1000;

/**
 * Looks for the banner of an ssh server. `refused`: something with this address answers that nothing listens.
 * `accepted`: a kernel took the connection, and nothing that is ssh's came within the limit. `silent`: no answer.
 * `not-tried`: we ourselves could not send.
 * @param connectLimit ms in which the connection must stand; a host that took it has the whole limit for its first words
 */
export function sshSign(clock: Clock, host: string, port: number, connectLimit = TCP_LIMIT): Promise<SshSign> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let text = '';
    let isConnected = false;
    const end = (sign: SshSign): void => {
      timer.cancel();
      socket.destroy();
      resolve(sign);
    };
    let timer = clock.after(connectLimit, () => end('silent'));
    socket.on('connect', () => {
      timer.cancel();
      isConnected = true;
      timer = clock.after(TCP_LIMIT, () => end('accepted'));
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (/^SSH-/m.test(text)) end('banner');
      else if (text.length > 4096) end('accepted');
    });
    socket.on('error', (e: NodeJS.ErrnoException) => {
      const { code } = e;
      if (code === 'ECONNREFUSED' || code === 'ECONNRESET') end('refused');
      else end(isOfTheTarget(e) ? 'silent' : 'not-tried');
    });
    socket.on('close', () => end(isConnected ? 'accepted' : 'silent'));
  });
}

/** Whether anything at `host:port` answers, be it by refusing. */
export function answersAt(clock: Clock, hostPort: string): Promise<boolean> {
  const at = hostPort.lastIndexOf(':');
  const host = hostPort.slice(0, at).replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(hostPort.slice(at + 1)) });
    const end = (yes: boolean): void => {
      timer.cancel();
      socket.destroy();
      resolve(yes);
    };
    const timer = clock.after(TCP_LIMIT, () => end(false));
    socket.on('connect', () => end(true));
    socket.on('error', (e: NodeJS.ErrnoException) => end(e.code === 'ECONNREFUSED'));
  });
}
