import type { Command } from 'commander';
import { GateCodes, phaseText, type GateCode, type IncidentRecord, type IncidentReport } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { UsageFailure } from '../failure/failure.js';
import { askByPrefix } from '../nodes/by-prefix.js';
import { incidentMarkdown } from '../output/incident-markdown.js';
import { story } from '../output/incident-story.js';
import type { View } from '../output/printer.js';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';

export function incidentCommands(program: Command): void {
  const incident = examples(
    program.command('incident').description('fencings: what was seen, decided and done'),
    'incident list',
    'incident get host1-SN1',
  );
  examples(
    does(incident.command('list').description('those that are not ended').option('--all', 'the ended ones too'), list),
    'incident list --all',
  );
  examples(
    does(incident.command('get <node>').description('the newest incident of a node, step by step'), get),
    'incident get host1-SN1',
  );
  examples(
    does(
      incident
        .command('report <node>')
        .description(
          'the newest incident for the post-mortem: evidence, decisions, commands, what moved, what people did, what is open',
        )
        .option('--format <format>', 'md or json', 'md'),
      report,
    ),
    'incident report host1-SN1 > post-mortem.md',
    'incident report host1-SN1 --format json',
  );
  examples(
    does(
      incident
        .command('release <node>')
        .description('let an incident past the gate that blocks it')
        .requiredOption('--reason <text>', 'why; kept with the incident')
        .option('--gate <gate>', 'only if it is this one that blocks it', gateOf)
        .option('--force', 'past BLIND or LIFE_SIGN: the node may be alive, and is powered off all the same'),
      (run: Run, node: string, o: Release) => act(run, 'release', node, o),
    ),
    'incident release host1-SN1 --gate CAP --reason "seen it dark in rack 4"',
  );
  examples(
    does(
      incident
        .command('confirm <node>')
        .description('state that you have seen the node to be down: its workloads start elsewhere')
        .requiredOption('--reason <text>', 'why; kept with the incident')
        .option('--force', 'also while the node gives signs of life'),
      (run: Run, node: string, o: Forced) => act(run, 'confirm', node, o),
    ),
    'incident confirm host1-SN1 --reason "seen it dark in rack 4"',
  );
  examples(
    does(
      incident
        .command('cancel <node>')
        .description('cancel an incident, until its first power command was given')
        .requiredOption('--reason <text>', 'why; kept with the incident'),
      (run: Run, node: string, o: { reason: string }) => act(run, 'cancel', node, o),
    ),
    'incident cancel host1-SN1 --reason "it was the wrong rack"',
  );
}

const incidentPath = (node: string): string => `/v1/incidents/${encodeURIComponent(node)}`;

const view = (terminal: Terminal): View<IncidentRecord> => ({
  name: (i) => i.node,
  head: ['NODE', 'PHASE', 'CAUSE', 'OPENED', 'REASON'],
  row: (i) => [i.node, phaseText(i), i.cause, moment(i.openedAt, terminal), i.reason],
  none: 'no incidents',
  screen: story,
});

async function list(run: Run, o: { all?: boolean }): Promise<void> {
  const incidents = await run.server.all<IncidentRecord>(o.all === true ? '/v1/incidents' : '/v1/incidents?open=true');
  await run.print.list(incidents, view(run.terminal));
}

async function get(run: Run, node: string): Promise<void> {
  const incident = await askByPrefix(run, node, (full) => run.server.get<IncidentRecord>(incidentPath(full)));
  await run.print.one(incident, { ...view(run.terminal), lines: story });
}

async function report(run: Run, node: string, o: { format: string }): Promise<void> {
  if (o.format !== 'md' && o.format !== 'json') throw new UsageFailure(`--format ${o.format}: md or json`);
  const found = await askByPrefix(run, node, (full) => run.server.get<IncidentReport>(`${incidentPath(full)}/report`));
  if (o.format === 'json') return run.terminal.json(found);
  if (await run.print.machine(found, [node])) return;
  run.terminal.out(incidentMarkdown(found));
}

interface Forced {
  reason: string;
  force?: boolean;
}

interface Release extends Forced {
  gate?: GateCode;
}

function gateOf(text: string): GateCode {
  const gate = GateCodes.find((code) => code === text.toUpperCase());
  if (gate === undefined) throw new UsageFailure(`--gate ${text}: one of ${GateCodes.join(', ')}`);
  return gate;
}

async function act(run: Run, verb: string, node: string, o: Release): Promise<void> {
  const answer = await run.server.post<IncidentRecord & { doNotPowerOnBefore?: number }>(
    `${incidentPath(node)}/${verb}`,
    { reason: o.reason, ...(o.force === true && { force: true }), ...(o.gate !== undefined && { gate: o.gate }) },
  );
  if (await run.print.machine(answer, [node])) return;
  run.terminal.line(`${node}: phase: ${phaseText(answer)}`);
  if (answer.doNotPowerOnBefore !== undefined)
    run.terminal.line(`${node}: do not power it on before ${new Date(answer.doNotPowerOnBefore).toISOString()}`);
}
