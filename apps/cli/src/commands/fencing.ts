import type { Command } from 'commander';
import type { FencingSettings } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { UsageFailure } from '../failure/failure.js';
import { parseDuration } from '../output/times.js';

interface SetOptions {
  pause?: string;
  reason?: string;
  except?: string;
}

export function fencingCommands(program: Command): void {
  const fencing = examples(
    program.command('fencing').description('whether dead nodes are powered off'),
    'fencing get',
    'fencing set enforce',
  );
  examples(does(fencing.command('get').description('mode and pause'), get), 'fencing get');
  examples(
    does(
      fencing
        .command('set <mode>')
        .description('observe (decide, but touch nothing) or enforce; without --pause a pause ends')
        .option('--pause <duration>', 'no fencing for 30s, 15m, 2h, 1d')
        .option('--reason <text>', 'why it is paused')
        .option('--except <nodes>', 'nodes, separated by commas, that may be without a tested power device'),
      set,
    ),
    'fencing set enforce',
    'fencing set enforce --pause 2h --reason "switch upgrade"',
  );
}

async function get(run: Run): Promise<void> {
  await print(run, await run.server.get<FencingSettings>('/v1/fencing'));
}

async function set(run: Run, mode: string, o: SetOptions): Promise<void> {
  if (mode !== 'observe' && mode !== 'enforce') throw new UsageFailure('the mode is observe or enforce');
  if ((o.pause === undefined) !== (o.reason === undefined)) throw new UsageFailure('--pause and --reason go together');
  const paused =
    o.pause === undefined ? {} : { paused: { until: Date.now() + parseDuration(o.pause), reason: o.reason } };
  const except = o.except === undefined ? {} : { except: o.except.split(',') };
  await print(run, await run.server.exchange<FencingSettings>('PUT', '/v1/fencing', { mode, ...paused, ...except }));
}

async function print({ terminal, print: printer }: Run, f: FencingSettings & { warnings?: string[] }): Promise<void> {
  if (await printer.machine(f)) return;
  terminal.line(`mode: ${f.mode}`);
  terminal.line(`hung: ${f.hung}`);
  terminal.line(`after recovery: ${f.afterRecovery}`);
  if (f.paused !== undefined)
    terminal.line(`paused: until ${new Date(f.paused.until).toISOString()} by ${f.paused.by}: ${f.paused.reason}`);
  for (const warning of f.warnings ?? []) terminal.note(`muster: ${warning}`);
}
