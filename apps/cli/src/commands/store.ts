import { join } from 'node:path';
import type { Command } from 'commander';
import type { Bus, NewGeneration } from '#bus';
import { does, examples, type Run } from '../command/command.js';
import { onFiles } from '../failure/on-files.js';
import type { Io } from '../io/io.js';

interface StoreOptions {
  dir: string;
  nats?: string;
}

const DIR = ['--dir <dir>', 'what muster init has written, with its keys', '/etc/muster'] as const;
const NATS = [
  '--nats <urls>',
  'its servers, separated by commas (environment MUSTER_NATS; by default those of muster.yaml)',
] as const;

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
  examples(
    does(
      store
        .command('restored')
        .description('the files of NATS were put back by hand: what they hold goes on as after "store load"')
        .option(...DIR)
        .option(...NATS),
      restored,
    ),
    'store restored --dir /etc/muster',
  );
}

async function save({ terminal, io }: Run, folder: string, o: StoreOptions): Promise<void> {
  const { saveStore } = await import('#bus');
  const { servers } = await settingsOf(o, io.env);
  await onFiles(() => saveStore(folder, { dir: o.dir, servers, onStream: told(terminal) }));
  terminal.line(`saved: ${folder}`);
}

async function load({ terminal, io }: Run, folder: string, o: StoreOptions): Promise<void> {
  const { loadStore } = await import('#bus');
  const { servers, replicas } = await settingsOf(o, io.env);
  await onFiles(() =>
    loadStore(folder, replicas, { dir: o.dir, servers, onStream: told(terminal), begin: begin(terminal) }),
  );
  terminal.line(`loaded: ${folder}, each record on ${replicas} ${replicas === 1 ? 'server' : 'servers'}`);
  terminal.line(RESUME);
}

async function restored({ terminal, io }: Run, o: StoreOptions): Promise<void> {
  const { restoredStore } = await import('#bus');
  const { servers } = await settingsOf(o, io.env);
  const { copied } = await onFiles(() => restoredStore({ dir: o.dir, servers, begin: begin(terminal) }));
  terminal.line(`restored: the store of NATS, whose last write is of ${copied}`);
  terminal.line(RESUME);
}

const RESUME =
  'fencing is paused: start the services, look at what is not so any more, then muster fencing set enforce (where the mode was observe: set observe)';

/** Before anything of the store is seen by a service. */
const begin =
  (terminal: Run['terminal']) =>
  async (bus: Bus, of: NewGeneration): Promise<void> => {
    const { supersede } = await import('../restore/supersede.js');
    const ended = await supersede(bus, {
      why: `The store was put back to ${of.copied}`,
      at: Date.parse(of.at),
    });
    for (const [kind, names] of Object.entries(ended) as [string, string[]][])
      if (names.length > 0) terminal.note(`muster: ended ${kind} of the copy: ${names.join(' ')}`);
  };

const told =
  (terminal: Run['terminal']) =>
  (name: string, messages: number): void =>
    terminal.note(`muster: ${name}: ${messages} ${messages === 1 ? 'message' : 'messages'}`);

/**
 * What muster.yaml in `o.dir` says of NATS, read and checked as by a service that starts with it.
 * @throws Failure which value of the file is wrong
 */
export async function settingsOf(
  o: StoreOptions,
  env: Io['env'] = {},
): Promise<{ servers: string[]; replicas: number }> {
  const { loadConfig } = await import('#service');
  const { nats, replicas } = await onFiles(() =>
    loadConfig('inventory', { MUSTER_CONFIG: join(o.dir, 'muster.yaml') }),
  );
  // In a container NATS is called otherwise than by those who have this muster.yaml.
  const named = o.nats ?? env['MUSTER_NATS'];
  return { servers: named?.split(',') ?? nats.servers, replicas };
}
