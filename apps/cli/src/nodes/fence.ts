import type { Command } from 'commander';
import { phaseText, type GateResult, type IncidentRecord } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { askAboutWorkloads } from '../input/workloads-at-stake.js';
import { awaitIncident, WAIT } from './await-incident.js';
import { nodePath } from './fetch-nodes.js';

export function fenceCommand(node: Command): void {
  examples(
    does(
      node
        .command('fence <name>')
        .description('power a node off, with proof; its workloads start elsewhere')
        .requiredOption('--reason <text>', 'why; kept with the incident')
        .option('--dry-run', 'ask every gate, do nothing')
        .option(...WAIT)
        .option('--yes', 'do not ask, also where workloads run there'),
      fence,
    ),
    'node fence host1-SN1 --reason "smoke" --dry-run',
    'node fence host1-SN1 --reason "smoke" --yes --wait',
  );
}

interface FenceOptions {
  reason: string;
  dryRun?: boolean;
  yes?: boolean;
  wait?: boolean;
}

async function fence(run: Run, name: string, o: FenceOptions): Promise<void> {
  if (o.dryRun !== true) await askAboutWorkloads(run, `fence ${name}`, [name], o.yes === true);
  const answer = await run.server.post<{ incident?: IncidentRecord; gates: GateResult[] }>(`${nodePath(name)}/fence`, {
    reason: o.reason,
    ...(o.dryRun === true && { dryRun: true }),
  });
  if (o.wait === true && answer.incident !== undefined) return awaitIncident(run, name, answer.incident.id);
  if (await run.print.machine(answer, [answer.incident?.id ?? name])) return;
  const rows = answer.gates.map((g) => [g.gate, g.pass ? 'pass' : 'stop', g.detail]);
  run.print.rows(['GATE', 'RESULT', 'DETAIL'], rows, 'no gates were asked');
  if (answer.incident !== undefined)
    run.terminal.line(`${name}: incident: ${answer.incident.id} ${phaseText(answer.incident)}`);
  const stopped = answer.gates.find((g) => !g.pass);
  if (stopped === undefined) return;
  const why = `${stopped.gate}: ${stopped.detail}`;
  if (o.dryRun === true) throw new Failure(`${name} would not be fenced: ${why}`);
  throw new Failure(
    `${name} is not fenced yet: blocked by ${why} It is called off after 10 min: muster incident get ${name}`,
  );
}
