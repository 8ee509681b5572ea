import type { Command } from 'commander';
import type { WorkloadRecord } from '#contracts';
import { does, examples, type Run } from '../command.js';
import { UsageFailure } from '../failure.js';
import { parseJsonOption } from '../input/json-option.js';
import { wholeNumber } from '../input/numbers.js';
import type { View } from '../output/printer.js';

interface PutOptions {
  node?: string;
  hostGroup?: string;
  desired?: string;
  priority?: string;
  weight?: string;
  driver?: string;
  spec?: string;
}

export function workloadCommands(program: Command): void {
  const workload = examples(
    program.command('workload').description('what runs on the nodes and moves when one dies'),
    'workload list',
    'workload put db1 --node host1-SN1',
  );
  examples(does(workload.command('list').description('all, and where each is assigned'), list), 'workload list');
  examples(does(workload.command('get <name>').description('one workload'), get), 'workload get db1 --json');
  examples(
    does(
      workload
        .command('put <name>')
        .description('make or change a workload; what is not named stays as it is')
        .option('--node <node>', 'where it already runs')
        .option('-g, --host-group <group>', 'only on nodes of this host group')
        .option('--desired <state>', 'running or stopped')
        .option('--priority <number>', 'higher is recovered first')
        .option('--weight <number>', "against a node's capacity")
        .option('--driver <driver>', 'how it is started: ansible, ssh or event')
        .option('--spec <json>', 'what the driver needs, a JSON object'),
      put,
    ),
    'workload put db1 --node host1-SN1 --priority 10',
  );
  examples(
    does(workload.command('delete <name>').description('forget a workload; refused until it is stopped'), forget),
    'workload delete db1',
  );
}

const workloadPath = (name: string): string => `/v1/workloads/${encodeURIComponent(name)}`;

const view: View<WorkloadRecord> = {
  name: (w) => w.name,
  head: ['NAME', 'DESIRED', 'NODE', 'GENERATION', 'PRIORITY', 'GROUP', 'HELD'],
  row: (w) => [
    w.name,
    w.stop === undefined ? w.desired : 'stopping',
    w.assignment?.node ?? '-',
    String(w.assignment?.generation ?? w.generation),
    String(w.priority),
    w.hostGroup ?? '-',
    w.held ?? '',
  ],
  none: 'no workloads',
};

async function list(run: Run): Promise<void> {
  await run.print.list(await run.server.all<WorkloadRecord>('/v1/workloads'), view);
}

async function get(run: Run, name: string): Promise<void> {
  await run.print.one(await run.server.get<WorkloadRecord>(workloadPath(name)), view);
}

async function put(run: Run, name: string, o: PutOptions): Promise<void> {
  if (o.spec !== undefined && o.driver === undefined) throw new UsageFailure('--spec needs --driver');
  const workload = await run.server.exchange<WorkloadRecord>('PUT', workloadPath(name), {
    ...(o.node !== undefined && { node: o.node }),
    ...(o.hostGroup !== undefined && { hostGroup: o.hostGroup }),
    ...(o.desired !== undefined && { desired: o.desired }),
    ...(o.priority !== undefined && { priority: wholeNumber('--priority', o.priority) }),
    ...(o.weight !== undefined && { weight: wholeNumber('--weight', o.weight, 0) }),
    ...(o.driver !== undefined && {
      recovery: { driver: o.driver, spec: o.spec === undefined ? {} : parseJsonOption('--spec', o.spec) },
    }),
  });
  await run.print.done(
    workload,
    name,
    `${name} is ${workload.desired}, on ${workload.assignment?.node ?? 'no node yet'}`,
  );
}

async function forget(run: Run, name: string): Promise<void> {
  await run.server.exchange('DELETE', workloadPath(name));
  await run.print.done({ name }, name, `${name} is forgotten`);
}
