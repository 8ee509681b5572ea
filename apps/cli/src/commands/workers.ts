import type { Command } from 'commander';
import type { WorkerRecord } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import type { View } from '../output/printer.js';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';

interface Drivers {
  items: { driver: string; service: string; workers: string[] }[];
  missing: { driver: string; nodes: string[] }[];
}

export function workerCommands(program: Command): void {
  examples(
    does(program.command('workers').description('live fencers and provisioners'), workers),
    'workers',
    'workers -o json',
  );
  examples(
    does(
      program.command('drivers').description('drivers on offer, and those that nodes need and nobody offers'),
      drivers,
    ),
    'drivers',
  );
}

const view = (terminal: Terminal): View<WorkerRecord> => ({
  name: (w) => w.id,
  head: ['ID', 'SERVICE', 'HOST', 'STARTED', 'DRIVERS'],
  row: (w) => [w.id, w.service, w.host, moment(w.startedAt, terminal), w.drivers.join(' ') || 'none'],
  none: 'no workers: nothing can be provisioned or fenced',
});

async function workers(run: Run): Promise<void> {
  const { items } = await run.server.get<{ items: WorkerRecord[] }>('/v1/workers');
  await run.print.list(items, view(run.terminal));
}

async function drivers(run: Run): Promise<void> {
  const answer = await run.server.get<Drivers>('/v1/drivers');
  const names = [...new Set(answer.items.map((d) => d.driver))];
  if (await run.print.machine(answer, names)) return;
  const rows = [
    ...answer.items.map((d) => [d.driver, d.service, d.workers.join(' '), '-']),
    ...answer.missing.map((d) => [d.driver, '-', run.terminal.paint('red', 'nobody'), d.nodes.join(' ')]),
  ];
  run.print.rows(['DRIVER', 'SERVICE', 'OFFERED BY', 'MISSED BY'], rows, 'no drivers');
}
