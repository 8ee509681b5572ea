import type { Command } from 'commander';
import { resolve } from 'node:path';
import { MusterError } from '#contracts/errors.js';
import { does, examples, type Run } from '../command.js';
import { Failure } from '../failure.js';

interface InitOptions {
  cluster: string;
  natsListen: string;
  natsStore?: string;
  agent: string[];
  host: string[];
  plain?: true;
}

const NO_SERVER =
  'no nats-server is installed here: nats.conf is written for 2.9; for 2.10 and newer add "sync_interval: always" to jetstream';
const KEPT =
  'users only: nats.conf, muster.yaml and keys are kept as they are; a running NATS server lets new agents in at once';

export function initCommand(program: Command): void {
  examples(
    does(
      program
        .command('init <dir>')
        .description(
          'write what a new cluster needs: NATS users and their permissions, keys, configuration; later: add agents',
        )
        .option('--cluster <name>', 'name of the cluster', 'muster')
        .option(
          '--nats-listen <addresses>',
          'host:port of the NATS server, several separated by commas',
          '127.0.0.1:4222',
        )
        .option('--nats-store <folder>', 'where NATS keeps its streams; by default nats in <dir>')
        .option(
          '--host <name>',
          'one more name or address under which NATS is reached, for its certificate; may be repeated',
          (name, all: string[]) => [...all, name],
          [],
        )
        .option('--plain', 'no TLS for NATS, also where other machines reach it')
        .option(
          '--agent <node>',
          'a node whose agent gets credentials; may be repeated',
          (n, all: string[]) => [...all, n],
          [],
        ),
      init,
    ),
    'init /etc/muster --cluster prod --nats-listen 10.0.0.1:4222 --agent host1-SN1 --agent host2-SN2',
    'init /etc/muster --nats-listen 0.0.0.0:4222 --host muster.example',
    'init /etc/muster --nats-store /var/lib/muster/nats    # for services under systemd',
    'init /etc/muster --agent host3-SN3      # one more: all else stays as it is',
  );
}

async function init({ terminal }: Run, dir: string, o: InitOptions): Promise<void> {
  // Loaded only here: every other command speaks HTTP and starts faster without it.
  const { addAgentUsers, configuredStore, initCluster, isCluster, storeRoomWarning } = await import('#bus');
  const exists = isCluster(dir);
  const storeDir = resolve((exists ? configuredStore(dir) : o.natsStore) ?? resolve(dir, 'nats'));
  if (exists && o.natsStore !== undefined)
    throw new Failure(
      `${dir} exists: where NATS keeps its streams is store_dir in nats.conf, and moves as docs/store.md says`,
    );
  if (exists && (o.host.length > 0 || o.plain === true))
    throw new Failure(`${dir} exists: the certificate of its NATS is a matter of "muster tls"`);
  try {
    if (exists) await addAgentUsers(dir, o.agent);
    else {
      const { natsServerVersion } = await import('#bus/init/nats-version.js');
      const natsVersion = natsServerVersion();
      if (natsVersion === undefined) terminal.note(`muster: ${NO_SERVER}`);
      await initCluster(dir, {
        cluster: o.cluster,
        agents: o.agent,
        natsListen: o.natsListen.split(','),
        storeDir,
        hosts: o.host,
        ...(o.plain === true && { plain: true }),
        ...(natsVersion !== undefined && { natsVersion }),
      });
    }
  } catch (error) {
    if (error instanceof MusterError) throw new Failure(error.message);
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw new Failure(`${dir}: ${(error as Error).message}`);
    throw error;
  }
  const room = storeRoomWarning(storeDir);
  if (room !== undefined) terminal.note(`muster: ${room}`);
  terminal.line(`written: ${resolve(dir)}`);
  if (exists) terminal.note(`muster: ${KEPT}`);
}
