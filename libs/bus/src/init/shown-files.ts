import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The containers that see a part of the installation's folder. */
export const Containers = ['nats', 'inventory', 'detector', 'provisioner', 'fencer', 'gateway'] as const;
export type Container = (typeof Containers)[number];

const service = (name: Container, ...keys: string[]): string[] => [
  'muster.yaml',
  `creds/${name}.json`,
  ...keys.map((key) => `keys/${key}.key`),
];

/**
 * What of the folder of `muster init` each container sees, as files and folders: the same as its unit of systemd
 * (deploy/systemd). Nobody sees `keys/operator.key`, or another's user.
 */
export const shownFiles: Record<Container, readonly string[]> = {
  nats: ['nats.conf', 'nats-accounts.conf', 'tls', 'tls-key'],
  inventory: [...service('inventory', 'datagram', 'secrets', 'agents', 'revoker'), 'tls', 'http'],
  detector: service('detector', 'datagram'),
  provisioner: [...service('provisioner', 'secrets'), 'ssh', 'services', 'playbooks'],
  fencer: service('fencer', 'secrets'),
  gateway: [...service('gateway'), 'tokens.json', 'http', 'http-key'],
};

/** Paths of the files in a file or folder, relative to `dir`; none where it is not there. */
export function filesIn(dir: string, path: string): string[] {
  const at = join(dir, path);
  if (!existsSync(at)) return [];
  if (!statSync(at).isDirectory()) return [path];
  return readdirSync(at).flatMap((name) => filesIn(dir, join(path, name)));
}
