import type { Command } from 'commander';
import type { WorkloadRecord, WorkloadView } from '#contracts';
import { isFine } from '#contracts/workload/standing.js';
import { does, examples, type Run } from '../command/command.js';
import { UsageFailure } from '../failure/failure.js';
import { parseJsonOption } from '../input/json-option.js';
import { wholeNumber } from '../input/numbers.js';
import type { View } from '../output/printer.js';
import type { Terminal } from '../output/terminal.js';
import { shortAge } from '../output/times.js';

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
  examples(
    does(workload.command('list').description('all: what each should do, and what is seen of it'), list),
    'workload list',
  );
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
        .option('--driver <driver>', 'how it is started: ansible')
        .option('--spec <json>', 'what the driver needs, a JSON object'),
      put,
    ),
    'workload put db1 --node host1-SN1 --priority 10',
  );
  examples(
    does(
      workload
        .command('delete <name>')
        .description('forget a workload; refused until it is stopped')
        .option('--reason <text>', 'on a node that was never heard: why you know that it does not run there'),
      forget,
    ),
    'workload delete db1',
    'workload delete db1 --reason "its host was never installed"',
  );
}

const workloadPath = (name: string): string => `/v1/workloads/${encodeURIComponent(name)}`;

/** A server of another version tells the record alone. */
type Shown = WorkloadRecord & Partial<Pick<WorkloadView, 'actual'>>;

const view = (terminal: Terminal): View<Shown> => ({
  name: (w) => w.name,
  head: ['NAME', 'DESIRED', 'ACTUAL', 'NODE', 'GENERATION', 'PRIORITY', 'GROUP', 'WHY', 'DO'],
  row: (w) => [
    w.name,
    w.desired,
    actualText(w, terminal),
    w.assignment?.node ?? '-',
    String(w.assignment?.generation ?? w.generation),
    String(w.priority),
    w.hostGroup ?? '-',
    w.actual?.why ?? w.held ?? '',
    w.actual?.remedy === undefined ? '' : `${w.actual.remedy.text} (${w.actual.remedy.command})`,
  ],
  none: 'no workloads',
});

/** `running, 0.4 s ago`; `elsewhere: host3`. */
function actualText({ actual: a }: Shown, terminal: Terminal): string {
  if (a === undefined) return '-';
  const on = a.state === 'elsewhere' && a.seenOn !== undefined ? `: ${a.seenOn}` : '';
  const age = a.reportAgeMs === undefined ? '' : `, ${shortAge(a.reportAgeMs)} ago`;
  return `${terminal.paint(isFine(a.state) ? 'green' : 'red', a.state)}${on}${age}`;
}

async function list(run: Run): Promise<void> {
  await run.print.list(await run.server.all<Shown>('/v1/workloads'), view(run.terminal));
}

async function get(run: Run, name: string): Promise<void> {
  await run.print.one(await run.server.get<Shown>(workloadPath(name)), view(run.terminal));
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

async function forget(run: Run, name: string, o: { reason?: string }): Promise<void> {
  const query = o.reason === undefined ? '' : `?reason=${encodeURIComponent(o.reason)}`;
  await run.server.exchange('DELETE', `${workloadPath(name)}${query}`);
  await run.print.done({ name }, name, `${name} is forgotten`);
}
