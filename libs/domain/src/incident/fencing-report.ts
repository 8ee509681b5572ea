import { closedPhases, type GateCode, type IncidentPhase, type StormLimits } from '#contracts';
import type {
  FencingReport,
  FencingReportLine,
  FencingReportOver,
  Observing,
} from '#contracts/incident/fencing-report.js';
import { operatorWhoCancelled } from './operator-cancel-text.js';
import { asksOf, wouldBePermits, type PermitAt, type WouldBeAsk } from './would-be-permits.js';

/** A step of an incident, as it was told. */
export interface IncidentEvent {
  node: string;
  incident: string;
  phase: IncidentPhase;
  /** Why, for people. */
  detail: string;
  /** That stopped it. */
  gate?: GateCode;
}

export interface FencingFacts {
  since: number;
  keptSince?: number | undefined;
  mode: FencingReport['mode'];
  /** Those of kind `incident`, the oldest first. `at`: wall clock, ms. */
  events: readonly { at: number; data: IncidentEvent }[];
  /** Those of kind `settings`, the oldest first. */
  settings: readonly { at: number; data: { changed: readonly string[] } }[];
  /** As of now: what they were then is not kept. */
  members: number;
  limits: StormLimits;
  /** Wall clock, ms. */
  now: number;
}

interface Story {
  line: FencingReportLine;
  told: FencingFacts['events'][number][];
  asks: WouldBeAsk[];
}

/** Pure: what came of each incident, in the order in which they began. */
export function fencingReport(f: FencingFacts): FencingReport {
  const { since, keptSince, mode } = f;
  const stories = storiesOf(f);
  const asks = stories.flatMap((s) => s.asks);
  const { stopped } = wouldBePermits(asks, permitsOf(stories), f);
  const report: FencingReport = {
    since,
    mode,
    ...{ fenced: [], wouldHaveFenced: [], wouldHaveStopped: [], stopped: [], failed: [], over: [], underWay: [] },
    ...(keptSince !== undefined && keptSince > since && { keptSince }),
  };
  for (const { line, told } of stories) {
    const gate = told.findLast(({ data }) => data.gate !== undefined)?.data.gate;
    const last = told.at(-1)?.data;
    const wouldStop = stopped.get(line.incident);
    const over = (end: FencingReportOver['end'], by?: string): void => {
      report.over.push({ ...line, end, ...(by !== undefined && { by }), ...(gate !== undefined && { gate }) });
    };
    // Its off was ordered: whatever stopped it before says nothing of it any more.
    if (last?.phase === 'survived') over('survived');
    else if (told.some(({ data }) => data.phase === 'fenced')) report.fenced.push(line);
    else if (wouldStop !== undefined) report.wouldHaveStopped.push({ ...line, gate: wouldStop });
    else if (told.some(isObserved)) report.wouldHaveFenced.push(line);
    else if (last?.phase === 'failed') report.failed.push(line);
    else if (last !== undefined && closedPhases.includes(last.phase)) {
      const by = operatorWhoCancelled(last.detail);
      over(by === undefined ? 'by-verdict' : 'taken-back', by);
    } else if (gate !== undefined) report.stopped.push({ ...line, gate });
    else report.underWay.push(line);
  }
  return mode === 'observe' ? { ...report, observing: observingOf(f, report, asks) } : report;
}

const isObserved = ({ data }: FencingFacts['events'][number]): boolean => data.gate === 'OBSERVE';

function storiesOf({ events, now }: FencingFacts): Story[] {
  const stories = new Map<string, Story>();
  for (const event of events) {
    const { node, incident } = event.data;
    const story = stories.get(incident);
    if (story === undefined) stories.set(incident, { line: { node, incident, at: event.at }, told: [event], asks: [] });
    else story.told.push(event);
  }
  for (const story of stories.values()) {
    const steps = story.told.map((t) => ({ at: t.at, isObserved: isObserved(t) }));
    story.asks = asksOf(story.line, steps, now);
  }
  return [...stories.values()];
}

/** Those that were given: whose power-off was ordered. */
const permitsOf = (stories: readonly Story[]): PermitAt[] =>
  stories.flatMap(({ line: { node, incident }, told }) => {
    const at = told.find((t) => t.data.phase === 'fencing')?.at;
    return at === undefined ? [] : [{ node, incident, at }];
  });

/**
 * The mode stands since it was last changed; where no change is kept, for longer than anything is. The event of a change
 * is lost where its inventory crashes: a power-off that was ordered shows as well that the mode was `enforce` then.
 */
function observingOf(
  { since, keptSince = since, settings, events }: FencingFacts,
  { wouldHaveFenced, wouldHaveStopped }: FencingReport,
  asks: readonly WouldBeAsk[],
): Observing {
  const kept = Math.max(since, keptSince);
  const changed = settings.findLast((e) => e.data.changed.includes('fencing.mode'))?.at ?? kept;
  const ordered = events.findLast((e) => e.data.phase === 'fencing')?.at ?? kept;
  const set = Math.max(changed, ordered);
  const from = Math.max(kept, set);
  // One of an earlier time in observe was over, or fenced, before the mode was set anew.
  const asked = new Set(asks.filter((a) => a.until > from).map((a) => a.incident));
  const count = (lines: readonly FencingReportLine[]): number => lines.filter((l) => asked.has(l.incident)).length;
  return {
    since: from,
    ...(set <= kept && { atLeast: true }),
    wouldHaveFenced: count(wouldHaveFenced),
    wouldHaveStopped: count(wouldHaveStopped),
  };
}
