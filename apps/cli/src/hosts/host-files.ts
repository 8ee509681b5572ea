import { stringify } from 'yaml';
import type { ControlHost } from '#bus/init/control-hosts.js';
import type { HostPlace } from '#bus/init/init-hosts.js';
import { atPort } from '#contracts/addresses/ip-address.js';

/** A file of it says that a folder is a control host's own part of an installation, whose keys lie elsewhere. */
export const HOST_ENV = 'host.env';

/**
 * What systemd's units and a composition on a control host need beside its part of the installation: `host.env` for both,
 * and `compose.yml`, which changes docker-compose.yml to one host of several.
 */
export function hostFiles(host: ControlHost, all: readonly ControlHost[], place: HostPlace): Record<string, string> {
  return { [HOST_ENV]: hostEnv(host), 'compose.yml': hostComposition(host, all, place) };
}

/** Where docker-compose.yml has the two for NATS. */
const IN_CONTAINER: HostPlace = { dir: '/etc/muster', store: '/var/lib/muster/nats' };

/** Who waits in docker-compose.yml for whom to be healthy. */
const WAITING = {
  inventory: 'nats',
  gateway: 'inventory',
  detector: 'inventory',
  provisioner: 'inventory',
  fencer: 'inventory',
} as const;

const hostEnv = ({ name, management, backend }: ControlHost): string =>
  [
    '# Written by muster init --hosts: which control host this is, for the units of systemd and for docker compose.',
    `MUSTER_HOST=${name}`,
    `MUSTER_HOST_ADDRESSES=${[management, backend].filter(Boolean).join(',')}`,
    `MUSTER_MANAGEMENT=${management}`,
    ...(backend === undefined ? [] : [`MUSTER_BACKEND=${backend}`]),
    '',
  ].join('\n');

function hostComposition(host: ControlHost, all: readonly ControlHost[], { dir, store }: HostPlace): string {
  const others = all.filter((h) => h !== host).map((h) => `nats://${atPort(h.management, 4222)}`);
  const isCluster = others.length > 0;
  const service = (name: keyof typeof WAITING, own: string) => ({
    environment: { MUSTER_NATS: [own, ...others].join(',') },
    // NATS is healthy with more than half of its servers: the first host would wait for another, and give up.
    ...(isCluster && { depends_on: { [WAITING[name]]: { condition: 'service_started' } } }),
  });
  const inner = 'nats://nats:4222';
  const outer = 'nats://127.0.0.1:4222';
  const volumes = [
    ...(dir === IN_CONTAINER.dir ? [] : [`shown-nats:${dir}:ro`]),
    ...(store === IN_CONTAINER.store ? [] : [`nats:${store}`]),
  ];
  const values = {
    services: {
      nats: {
        // Inside its container it has none of the host's addresses.
        command: ['--config', '/etc/muster/nats.conf', '--addr', '0.0.0.0', ...routeListen(isCluster)],
        ...(isCluster && { ports: [`${atPort(host.management, 6222)}:6222`] }),
        // Its nats.conf names its files and its store as they are on the host.
        ...(volumes.length > 0 && { volumes }),
      },
      inventory: service('inventory', inner),
      gateway: service('gateway', inner),
      detector: service('detector', outer),
      provisioner: service('provisioner', outer),
      fencer: service('fencer', outer),
    },
    volumes: { config: { driver: 'local', driver_opts: { type: 'none', o: 'bind', device: dir } } },
  };
  return [
    '# Written by muster init --hosts. On the control host, beside docker-compose.yml:',
    `#   docker compose --env-file ${dir}/${HOST_ENV} -f docker-compose.yml -f ${dir}/compose.yml up -d`,
    stringify(values, { aliasDuplicateObjects: false }),
  ].join('\n');
}

const routeListen = (isCluster: boolean): string[] => (isCluster ? ['--cluster_listen', 'nats://0.0.0.0:6222'] : []);
