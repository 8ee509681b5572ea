import type { Command } from 'commander';
import type { OperationRequest } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { parseExtraVars } from '../input/json-option.js';
import { seconds } from '../input/numbers.js';
import { askAboutWorkloads } from '../input/workloads-at-stake.js';
import { awaitJob } from '../jobs/await-job.js';
import { provePower } from './drill.js';
import { chosenNodes } from './fetch-nodes.js';
import { SELECTOR } from './selector-option.js';

type Kind = OperationRequest['kind'];
/** Asked for by a command of their own: `discover`, `service test`. */
type Ordered = Exclude<Kind, 'discover' | 'service-test'>;

interface OperationOptions {
  selector?: string;
  hostGroup?: string;
  extraVars?: string;
  timeout?: string;
  force?: boolean;
  atOnce?: boolean;
  wait?: boolean;
  diff?: boolean;
  yes?: boolean;
  provePower?: boolean;
}

interface Operation {
  summary: string;
  /** May give the nodes another host group. */
  group?: true;
  /** Ends what runs on the nodes. */
  destructive?: true;
}

const operations: Record<Ordered, Operation> = {
  commission: { summary: 'bring nodes into a host group: the site playbook runs on them', group: true },
  decommission: { summary: 'clean nodes up and take them out', destructive: true },
  maintenance: {
    summary: 'upgrade nodes: cleanup, then site (to leave a node alone is "node cordon")',
    group: true,
    destructive: true,
  },
  check: { summary: 'compare nodes with their configuration; changes nothing on them' },
  resetup: { summary: 'clean nodes up and set them up anew for their host group', destructive: true },
};

export function operationCommands(node: Command, nodes: Command): void {
  for (const [kind, operation] of Object.entries(operations) as [Ordered, Operation][]) {
    const group = operation.group === true ? ' --host-group service-worker' : '';
    const one = operationCommand(node, `${kind} <name>`, kind, operation);
    does(one, (run, name: string, o: OperationOptions) => operate(run, kind, [name], o));
    const differs = kind === 'check' ? [`node ${kind} host1-SN1 --diff`] : [];
    examples(one, `node ${kind} host1-SN1${group}`, `node ${kind} host1-SN1${group} --wait`, ...differs);
    const many = operationCommand(nodes, `${kind} [names...]`, kind, operation).option(...SELECTOR);
    does(many, async (run, names: string[], o: OperationOptions) =>
      operate(run, kind, await chosenNodes(run, names, o.selector), o),
    );
    const proven = kind === 'commission' ? [`nodes ${kind} host1-SN1 host2-SN2${group} --prove-power`] : [];
    examples(
      many,
      `nodes ${kind} host1-SN1 host2-SN2${group} --wait`,
      `nodes ${kind} -l vars.rack=r1${group}`,
      ...proven,
    );
  }
}

function operationCommand(parent: Command, call: string, kind: Kind, operation: Operation): Command {
  const command = parent.command(call).description(operation.summary);
  if (kind === 'maintenance') command.alias('update');
  if (operation.group === true) command.option('-g, --host-group <group>', 'host group of the nodes');
  runOptions(command);
  if (kind === 'check')
    command.option(
      '--diff',
      'wait for its end, then show what differs from what was set up last, and on the node, line by line; secrets are masked',
    );
  if (kind === 'commission')
    command.option(
      '--prove-power',
      'wait for its end, then drill each node by each of its fencing levels: switched off and on again, so that its power devices are proven its own',
    );
  if (kind === 'maintenance' || kind === 'resetup')
    command.option('--at-once', 'also where several masters go down at once, or the last one that serves');
  if (operation.destructive === true)
    command
      .option('--force', 'move workloads away first')
      .option('--yes', 'do not ask, also where workloads run there');
  return command;
}

const runOptions = (command: Command): Command =>
  command
    .option('-e, --extra-vars <json>', 'extra vars of this run, a JSON object')
    .option('--timeout <duration>', 'end the job after 30s, 15m, 2h, 1d')
    .option('--wait', 'show the progress of each node until the job has ended; exit 1 if it failed');

/** `discover`, and the same as `nodes discover`. */
export function discoverCommand(parent: Command, path: string): void {
  const command = parent
    .command('discover <addresses...>')
    .description('install the agent on bare hosts over ssh; they appear by themselves; known ones are left out')
    .option('-g, --host-group <group>', 'host group of the nodes');
  examples(
    does(runOptions(command), (run, addresses: string[], o: OperationOptions) =>
      submit(run, 'discover', { addresses, skipKnown: true }, o),
    ),
    `${path} 10.0.0.11 10.0.0.12 --wait`,
    `${path} 10.0.0.13 -e '{"ansible_user":"admin"}'`,
  );
}

async function operate(run: Run, kind: Ordered, nodes: string[], o: OperationOptions): Promise<void> {
  if (operations[kind].destructive === true) {
    checkOptions(o);
    const remedy = o.force === true ? undefined : '--yes and --force, which moves them away first';
    await askAboutWorkloads(run, `${kind} ${nodes.join(' ')}`, nodes, o.yes === true, remedy);
  }
  if (o.provePower !== true) return submit(run, kind, { nodes }, o);
  await submit(run, kind, { nodes }, { ...o, wait: true });
  await provePower(run, nodes);
}

/** What is wrong with the command line is said before anybody is asked anything. */
const checkOptions = (o: OperationOptions): Pick<OperationRequest, 'extraVars' | 'timeout'> => ({
  ...(o.extraVars !== undefined && { extraVars: parseExtraVars(o.extraVars) }),
  ...(o.timeout !== undefined && { timeout: seconds('--timeout', o.timeout) }),
});

async function submit(
  run: Run,
  kind: Kind,
  subject: Pick<OperationRequest, 'nodes' | 'addresses' | 'skipKnown'>,
  o: OperationOptions,
): Promise<void> {
  const request: OperationRequest = {
    kind,
    ...subject,
    ...(o.hostGroup !== undefined && { hostGroup: o.hostGroup }),
    ...checkOptions(o),
    ...(o.force === true && { force: true }),
    ...(o.atOnce === true && { atOnce: true }),
    ...(o.diff === true && { diff: true }),
  };
  const answer = await run.server.post<{ job: string; skipped?: Record<string, string> }>('/v1/operations', request);
  const { job, skipped = {} } = answer;
  for (const [address, node] of Object.entries(skipped))
    run.terminal.note(`muster: ${address} is left out: it is ${node}`);
  if (o.wait === true || o.diff === true) return awaitJob(run, job);
  await run.print.done(answer, job, `started: job ${job} (muster job get ${job} -f)`);
}
