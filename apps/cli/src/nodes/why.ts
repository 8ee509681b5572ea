import type { Command } from 'commander';
import type { EvidenceCell, EvidenceRow, NodeEvidence, OwnProbe } from '#contracts';
import { does, examples, type Run } from '../command.js';
import type { Terminal } from '../output/terminal.js';
import { moment, shortAge } from '../output/times.js';
import { nodePath } from './fetch-nodes.js';

export function whyCommand(node: Command): void {
  examples(
    does(
      node
        .command('why <name>')
        .alias('evidence')
        .description('why a node is judged as it is: what each of the others sees of it, network by network')
        .option('--at <time>', 'as of then, where it is kept: ISO 8601, or ms since 1970'),
      why,
    ),
    'node why host1-SN1',
    'node why host1-SN1 --at 2026-11-21T20:15:00Z',
    'node why host1-SN1 -o yaml',
  );
}

async function why(run: Run, name: string, o: { at?: string }): Promise<void> {
  const query = o.at === undefined ? '' : `?at=${encodeURIComponent(o.at)}`;
  const e = await run.server.get<NodeEvidence>(`${nodePath(name)}/evidence${query}`);
  if (await run.print.machine(e, [name])) return;
  const { terminal } = run;
  terminal.line(`${terminal.paint('bold', name)}: ${sentence(e, terminal)}`);
  const rows = e.observers.map((row) => [nameOf(row), row.stance, ...e.networks.map((n) => cellText(row, n))]);
  run.print.rows(['OBSERVER', 'COUNTS', ...e.networks.map((n) => n.toUpperCase())], rows, 'no observers');
  for (const [fact, text] of facts(e))
    terminal.line(terminal.interactive ? `  ${fact.padEnd(10)} ${text}` : `${name}: ${fact}: ${text}`);
}

function sentence(e: NodeEvidence, terminal: Terminal): string {
  const v = e.verdict;
  if (v === null) return 'no verdict yet';
  const on = v.verdict === 'DEGRADED' ? ` on ${v.networks.join(', ')}` : '';
  const since = e.since === undefined ? '' : ` since ${moment(e.since, terminal)}`;
  const stored = e.source === 'now' ? '' : ` (as published at ${moment(e.asOf, terminal)})`;
  return `${v.verdict}${on}${since}: ${v.reason}${stored}`;
}

const nameOf = (row: EvidenceRow): string => (row.polled ? `${row.observer} (polled)` : row.observer);

/** `heard 0.3 ms`, `silent 7`, `missing 3`, `stale 4.2 s`, `abstains`, with the loss where there was some. */
function cellText(row: EvidenceRow, network: string): string {
  const cell = row.networks[network];
  if (cell === undefined) return '-';
  const lost = cell.lostPermille === undefined ? '' : `, ${cell.lostPermille / 10} % lost`;
  return `${healthText(cell, row.reportAgeMs)}${lost}`;
}

function healthText(cell: EvidenceCell, reportAgeMs: number): string {
  switch (cell.health) {
    case 'heard':
      return cell.rttUs === undefined ? 'heard' : `heard ${(cell.rttUs / 1000).toFixed(1)} ms`;
    case 'stale':
      return `stale ${shortAge(reportAgeMs)}`;
    case 'missing':
    case 'silent':
      return `${cell.health} ${cell.misses}`;
    default:
      return cell.health;
  }
}

/** What is beside the observers: the node's own word, the monitor's own look, and what was counted. */
function facts(e: NodeEvidence): [string, string][] {
  const c = e.counts;
  if (c === undefined) return [];
  const polled = e.observers.filter((o) => o.polled).length;
  return [
    ['accusers', `${c.accusers} of ${c.assigned}${polled === 0 ? '' : ` (${polled} polled)`}`],
    ['own report', c.ownReportAgeMs === undefined ? 'none seen' : `${shortAge(c.ownReportAgeMs)} old`],
    ['monitor', c.ownProbe === undefined ? 'has not looked itself' : probeText(c.ownProbe)],
    ['members', `${c.members}, of which ${c.sightedReporters} others report`],
  ];
}

const probeText = ({ echo, ssh, ageMs }: OwnProbe): string =>
  `${echo.length === 0 ? 'no echo' : `echo on ${echo.join(', ')}`}, ssh ${ssh}, ${shortAge(ageMs)} old`;
