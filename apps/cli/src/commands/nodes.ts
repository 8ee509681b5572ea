import type { Command } from 'commander';
import type { GateResult, IncidentRecord, NodeView } from '#contracts';
import { clustermNode } from '#contracts/clusterm.js';
import { NODE_NAME_PATTERN } from '#contracts/names.js';
import { does, examples, type Run } from '../command.js';
import { Failure } from '../failure.js';
import { awaitJob } from '../jobs/await-job.js';
import { clustermLines } from '../output/clusterm-lines.js';
import { printRows } from '../output/table.js';
import { parseDuration } from '../output/times.js';
import { parseExtraVars } from './extra-vars.js';
import { askAboutWorkloads } from './workloads-at-stake.js';

type Kind = 'commission' | 'decommission' | 'maintenance';

interface OperationOptions {
  hostGroup?: string;
  extraVars?: string;
  force?: boolean;
  wait?: boolean;
  yes?: boolean;
}

/** Names in one query: a request line holds 16 KB. */
const NAMES_PER_QUERY = 100;

const summaries: Record<Kind, string> = {
  commission: 'bring nodes into a host group: the site playbook runs on them',
  decommission: 'clean nodes up and take them out',
  maintenance: 'upgrade nodes: cleanup, then site (to leave a node alone is "node cordon")',
};

export function nodesCommands(program: Command): void {
  const nodes = program.command('nodes').description('several nodes at once');
  examples(
    does(nodes.command('get [names...]').description('nodes by name, or all; unknown names are left out'), getNodes),
    'nodes get',
    'nodes get host1-SN1 host2-SN2 --json',
    'nodes get | grep "status: Allocated"',
  );
  operations(nodes, '<names...>', 'nodes', 'host1-SN1 host2-SN2');

  const node = program.command('node').description('one node');
  examples(
    does(node.command('get <name>').description('one node, with why it is out of service'), getNode),
    'node get host1-SN1',
  );
  operations(node, '<name>', 'node', 'host1-SN1');
  examples(
    does(
      node
        .command('cordon <name>')
        .description('leave a node alone: no fencing, no placement, until it is uncordoned')
        .requiredOption('--reason <text>', 'why; kept with the node')
        .option('--for <duration>', 'ends by itself after 30s, 15m, 2h, 1d'),
      cordon,
    ),
    'node cordon host1-SN1 --reason "disk swap" --for 2h',
  );
  examples(does(node.command('uncordon <name>').description('end a cordon'), uncordon), 'node uncordon host1-SN1');
  examples(
    does(
      node
        .command('fence <name>')
        .description('power a node off, with proof; its workloads start elsewhere')
        .requiredOption('--reason <text>', 'why; kept with the incident')
        .option('--dry-run', 'ask every gate, do nothing')
        .option('--yes', 'do not ask, also where workloads run there'),
      fence,
    ),
    'node fence host1-SN1 --reason "smoke" --dry-run',
    'node fence host1-SN1 --reason "smoke" --yes',
  );
}

function operations(parent: Command, names: string, word: string, example: string): void {
  for (const kind of ['commission', 'decommission', 'maintenance'] as const) {
    const command = parent.command(`${kind} ${names}`).description(summaries[kind]);
    if (kind === 'maintenance') command.alias('update');
    if (kind !== 'decommission') command.option('-g, --host-group <group>', 'host group of the nodes');
    command
      .option('-e, --extra-vars <json>', 'extra vars of this run, a JSON object')
      .option('--wait', 'show the progress of each node until the job has ended; exit 1 if it failed');
    if (kind !== 'commission')
      command
        .option('--force', 'move workloads away first')
        .option('--yes', 'do not ask, also where workloads run there');
    const more = kind === 'decommission' ? '--wait' : '--host-group service-worker --wait';
    examples(
      does(command, (run, given: string | string[], o: OperationOptions) => operate(run, kind, [given].flat(), o)),
      `${word} ${kind} ${example} ${more}`,
    );
  }
}

async function fetchNodes(run: Run, names: string[]): Promise<NodeView[]> {
  if (names.length === 0) return run.server.all<NodeView>('/v1/nodes');
  const known = names.filter((name) => NODE_NAME_PATTERN.test(name));
  const found: NodeView[] = [];
  for (let i = 0; i < known.length; i += NAMES_PER_QUERY)
    found.push(...(await run.server.all<NodeView>(`/v1/nodes?names=${known.slice(i, i + NAMES_PER_QUERY).join(',')}`)));
  return found;
}

async function getNodes(run: Run, names: string[]): Promise<void> {
  const nodes = await fetchNodes(run, names);
  if (run.json) return run.terminal.json({ items: nodes });
  if (!run.terminal.interactive) {
    for (const node of nodes) for (const line of clustermLines(clustermNode(node))) run.terminal.line(line);
    return;
  }
  const { terminal } = run;
  const rows = nodes.map((n) => [
    n.name,
    n.hostGroup ?? '-',
    n.status,
    n.state,
    n.inService ? terminal.paint('green', 'in') : terminal.paint('yellow', 'out'),
    n.networks['management']?.address ?? '-',
    n.reasons.map((r) => r.detail).join('; '),
  ]);
  printRows(terminal, ['NAME', 'GROUP', 'STATUS', 'STATE', 'SERVICE', 'ADDRESS', 'WHY'], rows, 'no nodes');
}

async function getNode(run: Run, name: string): Promise<void> {
  const node = await run.server.get<NodeView>(`/v1/nodes/${encodeURIComponent(name)}`);
  if (run.json) return run.terminal.json(node);
  for (const line of clustermLines(clustermNode(node))) run.terminal.line(line);
  if (!run.terminal.interactive) return;
  const { terminal } = run;
  terminal.line(node.inService ? terminal.paint('green', 'in service') : terminal.paint('yellow', 'out of service'));
  for (const reason of node.reasons) terminal.line(`  ${reason.code}: ${reason.detail}`);
}

async function operate(run: Run, kind: Kind, nodes: string[], o: OperationOptions): Promise<void> {
  const extraVars = o.extraVars === undefined ? undefined : parseExtraVars(o.extraVars);
  if (kind !== 'commission') await askAboutWorkloads(run, `${kind} ${nodes.join(' ')}`, nodes, o.yes === true);
  const { job } = await run.server.exchange<{ job: string }>('POST', '/v1/operations', {
    kind,
    nodes,
    ...(o.hostGroup !== undefined && { hostGroup: o.hostGroup }),
    ...(extraVars !== undefined && { extraVars }),
    ...(o.force === true && { force: true }),
  });
  if (o.wait === true) return awaitJob(run, job);
  if (run.json) run.terminal.json({ job });
  else if (run.terminal.interactive) run.terminal.line(`started: job ${job} (muster job get ${job} -f)`);
}

async function cordon(run: Run, name: string, o: { reason: string; for?: string }): Promise<void> {
  const until = o.for === undefined ? {} : { until: Date.now() + parseDuration(o.for) };
  const node = await run.server.exchange<NodeView>('PUT', `/v1/nodes/${encodeURIComponent(name)}/cordon`, {
    reason: o.reason,
    ...until,
  });
  if (run.json) run.terminal.json(node);
}

async function uncordon(run: Run, name: string): Promise<void> {
  const node = await run.server.exchange<NodeView>('DELETE', `/v1/nodes/${encodeURIComponent(name)}/cordon`);
  if (run.json) run.terminal.json(node);
}

async function fence(run: Run, name: string, o: { reason: string; dryRun?: boolean; yes?: boolean }): Promise<void> {
  if (o.dryRun !== true) await askAboutWorkloads(run, `fence ${name}`, [name], o.yes === true);
  const answer = await run.server.exchange<{ incident?: IncidentRecord; gates: GateResult[] }>(
    'POST',
    `/v1/nodes/${encodeURIComponent(name)}/fence`,
    { reason: o.reason, ...(o.dryRun === true && { dryRun: true }) },
  );
  if (run.json) return run.terminal.json(answer);
  const rows = answer.gates.map((g) => [g.gate, g.pass ? 'pass' : 'stop', g.detail]);
  printRows(run.terminal, ['GATE', 'RESULT', 'DETAIL'], rows, 'no gates were asked');
  if (answer.incident !== undefined)
    run.terminal.line(`${name}: incident: ${answer.incident.id} ${answer.incident.phase}`);
  const stopped = answer.gates.find((g) => !g.pass);
  if (stopped !== undefined) throw new Failure(`${name} would not be fenced: ${stopped.gate}: ${stopped.detail}`);
}
