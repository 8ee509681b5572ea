import type { Command } from 'commander';
import type { EvidenceCell, EvidenceRow, LinkHealth, NodeEvidence, VerdictKind } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { pastMoment } from '../input/moment.js';
import type { Colour, Terminal } from '../output/terminal.js';
import { moment, shortAge } from '../output/times.js';
import { askByPrefix } from './by-prefix.js';
import { evidenceFacts } from './evidence-facts.js';
import { nodePath } from './fetch-nodes.js';

export function whyCommand(node: Command): void {
  examples(
    does(
      node
        .command('why <name>')
        .alias('evidence')
        .description(
          'why a node is judged as it is: who reports it down, who hears it, who says nothing, network by network',
        )
        .option('--at <time>', 'as of then, within the last day: 15m (ago), 20:15, ISO 8601, or ms since 1970'),
      why,
    ),
    'node why host1-SN1',
    'node why host1-SN1 --at 15m',
    'node why host1-SN1 --at 2026-11-21T20:15:00Z',
    'node why host1-SN1 | grep "reports down"',
    'node why host1-SN1 -o yaml',
  );
}

async function why(run: Run, given: string, o: { at?: string }): Promise<void> {
  const at = o.at === undefined ? undefined : new Date(pastMoment('--at', o.at, Date.now())).toISOString();
  const query = at === undefined ? '' : `?at=${encodeURIComponent(at)}`;
  const e = await askByPrefix(run, given, (full) => run.server.get<NodeEvidence>(`${nodePath(full)}/evidence${query}`));
  const name = e.node;
  if (await run.print.machine(e, [name])) return;
  const { terminal } = run;
  terminal.line(`${terminal.paint('bold', name)}: ${sentence(e, at !== undefined, terminal)}`);
  const rows = e.observers.map((row) => [
    row.polled ? `${row.observer} (polled)` : row.observer,
    terminal.paint(stanceColours[row.stance], stanceTexts[row.stance]),
    reportText(row),
    ...e.networks.map((n) => cellText(row.networks[n], terminal)),
  ]);
  run.print.rows(['OBSERVER', 'COUNTS', 'REPORT', ...e.networks.map((n) => n.toUpperCase())], rows, 'no observers');
  for (const [fact, text] of evidenceFacts(e))
    terminal.line(terminal.interactive ? `  ${fact.padEnd(12)} ${text}` : `${name}: ${fact}: ${text}`);
}

const verdictColours: Record<VerdictKind, Colour> = {
  UP: 'green',
  DEGRADED: 'yellow',
  SUSPECT: 'yellow',
  DOWN: 'red',
  LEFT: 'cyan',
  UNKNOWN: 'yellow',
};
const stanceTexts: Record<EvidenceRow['stance'], string> = {
  accuses: 'reports down',
  hears: 'hears',
  absent: 'absent',
};
const stanceColours: Record<EvidenceRow['stance'], Colour> = { accuses: 'red', hears: 'green', absent: 'yellow' };

function sentence(e: NodeEvidence, past: boolean, terminal: Terminal): string {
  const v = e.verdict;
  if (v === null) return 'no verdict yet';
  const on = v.verdict === 'DEGRADED' ? ` on ${v.networks.join(', ')}` : '';
  const held = e.since === undefined || e.asOf === undefined ? undefined : Math.max(0, e.asOf - e.since);
  const since =
    e.since === undefined
      ? ''
      : ` since ${moment(e.since, terminal)}${terminal.interactive && held !== undefined && e.source === 'now' ? ` (${shortAge(held)})` : ''}`;
  const given = `as published at ${moment(e.asOf, terminal)}`;
  const stored = e.source === 'now' ? '' : past ? ` (${given})` : ` (no detector judges it now; ${given})`;
  return `${terminal.paint(verdictColours[v.verdict], v.verdict)}${on}${since}: ${v.reason}${stored}`;
}

/** When the observer last spoke: `0.3 s ago`, `never heard`, and where it said nothing of the node, that. */
function reportText({ wordless, reportAgeMs }: EvidenceRow): string {
  if (reportAgeMs === undefined) return 'never heard';
  const ago = `${shortAge(reportAgeMs)} ago`;
  if (wordless === undefined) return ago;
  return `${ago}, ${wordless === 'no-answer' ? 'no answer' : 'no word of it'}`;
}

/** `heard 0.3 ms`, `silent 7`, `missing 3`, `stale`, `abstains`, `cannot send`, with the loss where there was some. */
function cellText(cell: EvidenceCell | undefined, terminal: Terminal): string {
  if (cell === undefined) return '-';
  const lost = cell.lostPermille === undefined ? '' : `, ${cell.lostPermille / 10} % lost`;
  return `${terminal.paint(healthColour(cell.health), healthText(cell))}${lost}`;
}

const healthColour = (health: LinkHealth): Colour =>
  health === 'heard' ? 'green' : health === 'silent' || health === 'missing' ? 'red' : 'yellow';

function healthText({ health, rttUs, misses }: EvidenceCell): string {
  switch (health) {
    case 'heard':
      return rttUs === undefined ? 'heard' : `heard ${(rttUs / 1000).toFixed(1)} ms`;
    case 'missing':
    case 'silent':
      return `${health} ${misses}`;
    case 'mute':
      return 'cannot send';
    default:
      return health;
  }
}
