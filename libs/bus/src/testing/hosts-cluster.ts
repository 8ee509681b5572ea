import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostFolder, parseControlHosts, type ControlHost } from '../init/control-hosts.js';
import { initHosts, type HostsOptions } from '../init/init-hosts.js';
import { listening } from './nats.js';
import { SystemNats } from './nats-process.js';

const NATS_PORT = 4222;

/** A control host of a {@link HostsCluster}. */
export interface HostServer extends ControlHost {
  url: string;
  /** What is for `/etc/muster` of it. */
  dir: string;
  /** kill -9. Resolves when it has ended. */
  kill(): Promise<void>;
  /** Resolves when it greets. */
  start(): Promise<void>;
  /** SIGHUP. Resolves when it was sent. */
  reload(): Promise<void>;
}

/** Real nats-servers as `muster init --hosts` configures them: TLS, keys of each other, no word of each other to clients. */
export interface HostsCluster {
  hosts: HostServer[];
  urls: string[];
  /** What `muster init --hosts` writes. */
  dir: string;
  /** `muster init --hosts` again, as after a change in {@link dir}. */
  init(): Promise<void>;
  /** Ends all, and removes their folders. */
  stop(): Promise<void>;
}

/** @param program path of a nats-server that a cluster may have, as `newerNats` finds it */
export async function startHostsCluster(
  program: string,
  o: Partial<Pick<HostsOptions, 'agents'>> = {},
): Promise<HostsCluster> {
  const top = await mkdtemp(join(tmpdir(), 'muster-hosts-'));
  const dir = join(top, 'etc');
  // The ports are the product's own: so the addresses are ours alone.
  const net = `127.${randomInt(16, 250)}.${randomInt(1, 250)}`;
  const hosts = parseControlHosts(`ctl1=${net}.1,ctl2=${net}.2,ctl3=${net}.3`);
  const place = ({ name }: ControlHost) => ({ dir: hostFolder(dir, name), store: join(top, name) });
  const init = async (): Promise<void> => {
    await initHosts(dir, { cluster: 'spec', agents: o.agents ?? [], hosts, place });
  };
  await init();
  const servers = hosts.map((host): HostServer => {
    const own = hostFolder(dir, host.name);
    const server = new SystemNats(join(own, 'nats.conf'), program);
    return {
      ...host,
      url: `nats://${host.management}:${NATS_PORT}`,
      dir: own,
      kill: () => server.kill(),
      start: async () => {
        await server.start();
        await listening(NATS_PORT, host.management);
      },
      reload: () => server.signal('SIGHUP'),
    };
  });
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.kill()));
    await rm(top, { recursive: true, force: true });
  };
  try {
    await Promise.all(servers.map((server) => server.start()));
  } catch (e) {
    await stop();
    throw e;
  }
  return { hosts: servers, urls: servers.map((server) => server.url), dir, init, stop };
}
