import { createInterface } from 'node:readline';
import { daemon } from '#bus/testing/daemon.js';

/** Prints each word that comes to the socket, and closes what comes with it, as systemd does. Node has no such sockets. */
const LISTENER = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('listening', flush=True)
while True:
    data, fds, _, _ = socket.recv_fds(s, 4096, 4)
    for fd in fds: os.close(fd)
    for word in data.decode().split(): print(word, flush=True)
`;

/** systemd's side of a unit of `Type=notify`. */
export interface HeardWords {
  /** Resolves when this word was told, and forgets those before it. Rejects when the listener has ended. */
  until(word: string): Promise<void>;
  close(): Promise<void>;
}

/** @param socket where it listens: a path that is free */
export async function hearWords(socket: string): Promise<HeardWords> {
  const python = daemon('python3', ['-c', LISTENER, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  const words = createInterface(python.stdout)[Symbol.asyncIterator]();
  const until = async (word: string): Promise<void> => {
    for (let next = await words.next(); next.value !== word; next = await words.next())
      if (next.done === true) throw new Error(`"${word}" was not told`);
  };
  await until('listening');
  return {
    until,
    close: async () => {
      python.kill('SIGKILL');
      await python;
    },
  };
}
