import { text } from 'node:stream/consumers';
import { atPort, MusterError } from '#contracts';
import { configuration, configure, install, renewAdminToken, renewUsers, type Output } from './installation.js';

/** `docker compose run --rm init [COMMAND]`: the places are those of docker-compose.yml. */
const places = { dir: '/etc/muster', store: '/var/lib/muster/nats', shown: '/shown' };

const usage = `usage: docker compose run --rm init [COMMAND]
  (none)        make the installation, and show the admin token this once; where there is one, it is kept
  demo          make one for the profile "demo", which is no part of production
  show          print muster.yaml
  configure     take another muster.yaml from stdin (-T), after a check
  admin-token   make another admin token in place of the first
  renew         after an upgrade: the services' users with what this version may do; a certificate of NATS that lasts
`;

const env = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new MusterError('CONFIG_INVALID', `${name} must be set, e.g. in .env`);
  return value;
};

/** For its certificate. Services on the composition's own network know it by the name of its service. */
const natsNames = (): string[] => [
  'nats',
  env('MUSTER_HOST'),
  ...env('MUSTER_HOST_ADDRESSES').split(',').filter(Boolean),
];

async function run(command: string | undefined): Promise<Output | undefined> {
  switch (command) {
    case undefined:
    case 'demo': {
      const port = env('MUSTER_NATS_PORT');
      const backend = process.env['MUSTER_BACKEND'] ?? '';
      return install({
        ...places,
        cluster: env('MUSTER_CLUSTER'),
        agentsReach: {
          management: atPort(env('MUSTER_MANAGEMENT'), port),
          ...(backend !== '' && { backend: atPort(backend, port) }),
        },
        hosts: natsNames(),
        demo: command === 'demo',
      });
    }
    case 'show':
      return configuration(places);
    case 'configure':
      return configure(places, await text(process.stdin));
    case 'admin-token':
      return renewAdminToken(places);
    case 'renew':
      return renewUsers({ ...places, hosts: natsNames() });
    default:
      return undefined;
  }
}

process.umask(0o077);
const [command, ...more] = process.argv.slice(2);
try {
  const said = more.length === 0 ? await run(command) : undefined;
  if (said === undefined) {
    process.stderr.write(usage);
    process.exitCode = 2;
  } else {
    for (const note of said.notes) process.stderr.write(`muster: ${note}\n`);
    if (said.result !== undefined) process.stdout.write(`${said.result}\n`);
  }
} catch (e) {
  process.stderr.write(`muster: ${(e as Error).message}\n`);
  process.exitCode = 1;
}
