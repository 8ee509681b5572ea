import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { execaSync } from 'execa';
import { daemon } from '#bus/testing/daemon.js';
import { freePort } from '#bus/testing/free-port.js';

export interface TestSshd {
  port: number;
  /** Private key that it lets in, as the user of this process. */
  privateKey: string;
  /** Its own public key, as in known_hosts without the name. */
  hostKey: string;
  stop(): Promise<void>;
}

/** A new key pair; its public half without the comment. */
export function sshKey(path: string, type: 'ed25519' | 'rsa' = 'ed25519'): string {
  execaSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', '', '-f', path]);
  return readFileSync(`${path}.pub`, 'utf8').trim();
}

/** A real sshd on this machine, with files of its own in the folder; at one port of all these addresses. */
export async function startSshd(dir: string, addresses = ['127.0.0.1']): Promise<TestSshd> {
  const port = await freePort();
  const hostKey = sshKey(join(dir, 'host'));
  writeFileSync(join(dir, 'authorized_keys'), `${sshKey(join(dir, 'client'))}\n`);
  const config = [
    ...addresses.map((address) => `ListenAddress ${address}:${port}`),
    `HostKey ${join(dir, 'host')}`,
    `AuthorizedKeysFile ${join(dir, 'authorized_keys')}`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin prohibit-password',
    'MaxStartups 100',
  ];
  writeFileSync(join(dir, 'sshd_config'), `${config.join('\n')}\n`);
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const sshd = daemon('/usr/sbin/sshd', ['-D', '-e', '-f', join(dir, 'sshd_config')], { stdio: 'ignore' });
  while (!(await listens(port))) await pause(20);
  return {
    port,
    privateKey: join(dir, 'client'),
    hostKey,
    stop: async () => {
      sshd.kill('SIGTERM');
      await sshd;
    },
  };
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
