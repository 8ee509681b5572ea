import { join } from 'node:path';
import type { Command } from 'commander';
import { does, examples, type Run } from '../command/command.js';
import { onFiles } from '../failure/on-files.js';

interface StoreOptions {
  dir: string;
  nats?: string;
}

const DIR = ['--dir <dir>', 'what muster init has written, with its keys', '/etc/muster'] as const;
const NATS = ['--nats <urls>', 'its servers, separated by commas; by default those of muster.yaml'] as const;

/** All that is kept in NATS, from one number of control hosts to another: docs/three-hosts.md. */
export function storeCommands(program: Command): void {
  const store = program
    .command('store')
    .description('all that Muster keeps in NATS, out of one NATS and into another; the services are stopped meanwhile');
  examples(store, 'store save /root/muster-store');
  examples(
    does(
      store
        .command('save <folder>')
        .description('copy streams and buckets, with revisions and times, into a new folder; NATS keeps all of it')
        .option(...DIR)
        .option(...NATS),
      save,
    ),
    'store save /root/muster-store',
    'store save /root/muster-store --dir /root/prod --nats nats://10.0.0.1:4222',
  );
  examples(
    does(
      store
        .command('load <folder>')
        .description('put them into a NATS that keeps nothing of Muster yet, in as many copies as muster.yaml says')
        .option(...DIR)
        .option(...NATS),
      load,
    ),
    'store load /root/muster-store --dir /root/prod',
  );
}

async function save({ terminal }: Run, folder: string, o: StoreOptions): Promise<void> {
  const { saveStore } = await import('#bus');
  const { servers } = await settingsOf(o);
  await onFiles(() => saveStore(folder, { dir: o.dir, servers, onStream: told(terminal) }));
  terminal.line(`saved: ${folder}`);
}

async function load({ terminal }: Run, folder: string, o: StoreOptions): Promise<void> {
  const { loadStore } = await import('#bus');
  const { servers, replicas } = await settingsOf(o);
  await onFiles(() => loadStore(folder, replicas, { dir: o.dir, servers, onStream: told(terminal) }));
  terminal.line(`loaded: ${folder}, each record on ${replicas} ${replicas === 1 ? 'server' : 'servers'}`);
}

const told =
  (terminal: Run['terminal']) =>
  (name: string, messages: number): void =>
    terminal.note(`muster: ${name}: ${messages} ${messages === 1 ? 'message' : 'messages'}`);

/**
 * What muster.yaml in `o.dir` says of NATS, read and checked as by a service that starts with it.
 * @throws Failure which value of the file is wrong
 */
export async function settingsOf(o: StoreOptions): Promise<{ servers: string[]; replicas: number }> {
  const { loadConfig } = await import('#service');
  const { nats, replicas } = await onFiles(() =>
    loadConfig('inventory', { MUSTER_CONFIG: join(o.dir, 'muster.yaml') }),
  );
  return { servers: o.nats?.split(',') ?? nats.servers, replicas };
}
