import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { folder } from './run.mjs';

/**
 * Two set-ups of one folder at once would write the same dist/ and node_modules/. An abstract unix socket is the
 * lock: the kernel frees it with its owner, however that ends, and who waits is told by the closed connection.
 */
const addressOf = (of) => `\0muster-setup-${createHash('sha256').update(of).digest('hex').slice(0, 32)}`;

export async function inTurn(say, work, of = folder) {
  const address = addressOf(of);
  let told = false;
  for (;;) {
    const waiting = new Set();
    const server = createServer((socket) => waiting.add(socket.on('error', () => socket.destroy())));
    if (await listening(server, address)) {
      try {
        return await work();
      } finally {
        server.close();
        // Who waits would keep this process alive, for whose end it waits.
        for (const socket of waiting) socket.destroy();
      }
    }
    if (!told) say('another set-up of this folder is running; waiting for it');
    told = true;
    await ended(address);
  }
}

async function listening(server, address) {
  server.listen(address);
  try {
    await once(server, 'listening');
    server.unref();
    return true;
  } catch (error) {
    if (error.code === 'EADDRINUSE') return false;
    throw error;
  }
}

/** Resolves when the owner is gone; an owner that left before we could connect counts too. */
function ended(address) {
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.resume();
    socket.on('error', () => socket.destroy());
    socket.on('close', resolve);
  });
}
