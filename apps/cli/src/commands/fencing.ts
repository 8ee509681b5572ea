import type { Command } from 'commander';
import type { FencingReport, FencingReportLine, FencingReportOver } from '#contracts/incident/fencing-report.js';
import { pauseEnd, type FencingSettings } from '#contracts/settings/settings.js';
import { does, examples, type Run } from '../command/command.js';
import { UsageFailure } from '../failure/failure.js';
import { moment, parseDuration } from '../output/times.js';
import { ifMatch } from '../server/if-match.js';
import { Refusal } from '../server/server.js';

/** Each waits for 8.5 s: three minutes. */
const MOST_REQUESTS = 20;

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
        .command('report')
        .description('what was decided about dead nodes, and in mode observe would have been done')
        .option('--days <n>', 'how far back', '7'),
      report,
    ),
    'fencing report --days 30',
    'fencing report --json | jq .wouldHaveFenced',
  );
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

async function report(run: Run, o: { days: string }): Promise<void> {
  const days = Number(o.days);
  if (!Number.isInteger(days) || days < 1 || days > 365)
    throw new UsageFailure(`--days ${o.days}: a whole number from 1 to 365`);
  const found = await run.server.get<FencingReport>(`/v1/fencing/report?days=${days}`);
  if (await run.print.machine(found)) return;
  const { observing } = found;
  const since = observing && new Date(observing.since).toISOString();
  run.terminal.line(
    `mode: ${found.mode}${since === undefined ? '' : ` since ${since}${observing?.atLeast === true ? ' or before' : ''}`}`,
  );
  if (found.keptSince !== undefined)
    run.terminal.line(`known since: ${new Date(found.keptSince).toISOString()}: nothing from before is kept`);
  const lines = decisions(found).sort((x, y) => x.at - y.at);
  run.print.rows(
    ['NODE', 'DECISION', 'GATE', 'BEGAN', 'INCIDENT'],
    lines.map((l) => [l.node, l.decision, l.gate ?? '', moment(l.at, run.terminal), l.incident]),
    `no incidents in ${days} day(s)`,
  );
}

/** A server of another version does not say how it ended. */
function endText({ end, by }: Partial<FencingReportOver>): string {
  if (end === 'survived') return 'lived on after its off';
  if (end === 'taken-back') return by === undefined ? 'cancelled' : `cancelled by ${by}`;
  return 'over by itself';
}

const decisions = (r: FencingReport): (FencingReportLine & { decision: string; gate?: string })[] => [
  ...r.fenced.map((l) => ({ ...l, decision: 'fenced' })),
  ...r.wouldHaveFenced.map((l) => ({ ...l, decision: 'would have fenced', gate: 'OBSERVE' })),
  // A server of another version does not tell them apart.
  ...((r as Partial<FencingReport>).wouldHaveStopped ?? []).map((l) => ({
    ...l,
    decision: `would have been blocked by ${l.gate}`,
  })),
  ...r.stopped.map((l) => ({ ...l, decision: `blocked by ${l.gate}` })),
  ...r.failed.map((l) => ({ ...l, decision: 'failed' })),
  ...r.over.map((l) => ({ ...l, decision: endText(l) })),
  ...r.underWay.map((l) => ({ ...l, decision: 'under way' })),
];

async function get(run: Run): Promise<void> {
  await print(run, await run.server.get<FencingSettings>('/v1/fencing'));
}

async function set(run: Run, mode: string, o: SetOptions): Promise<void> {
  if (mode !== 'observe' && mode !== 'enforce') throw new UsageFailure('the mode is observe or enforce');
  if ((o.pause === undefined) !== (o.reason === undefined)) throw new UsageFailure('--pause and --reason go together');
  const paused =
    o.pause === undefined ? {} : { paused: { until: Date.now() + parseDuration(o.pause), reason: o.reason } };
  const except = o.except === undefined ? {} : { except: o.except.split(',') };
  await print(run, await whenTested(run, { mode, ...paused, ...except }));
}

/**
 * Many devices, or slow ones, take longer than one request waits: each goes on where the one before has stopped, and
 * undoes nothing that somebody else has ordered since the first.
 */
async function whenTested(run: Run, request: object): Promise<FencingSettings> {
  let match: Record<string, string> = {};
  for (let left = MOST_REQUESTS; ; left -= 1)
    try {
      return await run.server.exchange<FencingSettings>('PUT', '/v1/fencing', request, match);
    } catch (e) {
      const { untested, revision } = e instanceof Refusal ? e.facts : {};
      if (typeof untested !== 'number' || left <= 1) throw e;
      // A server of another version does not say it.
      if (typeof revision === 'number') match = ifMatch(revision);
      run.terminal.note(`muster: the power devices of ${untested} nodes are still being tested`);
    }
}

async function print({ terminal, print: printer }: Run, f: FencingSettings & { warnings?: string[] }): Promise<void> {
  if (await printer.machine(f)) return;
  terminal.line(`mode: ${f.mode}`);
  terminal.line(`hung: ${f.hung}`);
  terminal.line(`after recovery: ${f.afterRecovery}`);
  if (f.paused !== undefined) terminal.line(`paused: ${pauseEnd(f.paused)} by ${f.paused.by}: ${f.paused.reason}`);
  for (const warning of f.warnings ?? []) terminal.note(`muster: ${warning}`);
}
