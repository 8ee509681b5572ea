import { closedPhases, type GateCode, type IncidentPhase } from './incident.js';

/** One incident of the period. */
export interface FencingReportLine {
  node: string;
  incident: string;
  /** Of the first that is kept of it: wall clock, ms. */
  at: number;
}

/** What was decided about dead nodes in a period, by the events that are kept. */
export interface FencingReport {
  /** Wall clock, ms. */
  since: number;
  /** Nothing from before this is kept; absent: all of the period is. */
  keptSince?: number;
  /** As of now. */
  mode: 'observe' | 'enforce';
  /** Proven off. */
  fenced: FencingReportLine[];
  /** Mode `observe` alone stood in the way. Gate FLAPPING is asked after it, and might have. */
  wouldHaveFenced: FencingReportLine[];
  /** Stopped by a gate, the last one that did. */
  stopped: (FencingReportLine & { gate: GateCode })[];
  /** Could not be proven off. */
  failed: FencingReportLine[];
  /** Ended by itself before anything was decided: the node was heard again, or somebody took it back. */
  over: FencingReportLine[];
  /** Not decided yet. */
  underWay: FencingReportLine[];
}

/** A step of an incident, as it was told. */
export interface ToldStep {
  node: string;
  incident: string;
  phase: IncidentPhase;
  /** That stopped it. */
  gate?: GateCode;
}

export interface FencingFacts {
  since: number;
  keptSince?: number | undefined;
  mode: FencingReport['mode'];
  /** Those of kind `incident`, the oldest first. `at`: wall clock, ms. */
  events: readonly { at: number; data: ToldStep }[];
}

/** Pure: what came of each incident, in the order in which they began. */
export function fencingReport({ since, keptSince, mode, events }: FencingFacts): FencingReport {
  const report: FencingReport = {
    since,
    mode,
    ...{ fenced: [], wouldHaveFenced: [], stopped: [], failed: [], over: [], underWay: [] },
    ...(keptSince !== undefined && keptSince > since && { keptSince }),
  };
  const stories = new Map<string, { line: FencingReportLine; told: ToldStep[] }>();
  for (const { data: told, at } of events) {
    const story = stories.get(told.incident);
    if (story === undefined)
      stories.set(told.incident, { line: { node: told.node, incident: told.incident, at }, told: [told] });
    else story.told.push(told);
  }
  for (const { line, told } of stories.values()) {
    const gate = told.findLast((t) => t.gate !== undefined)?.gate;
    const last = told.at(-1)?.phase;
    if (told.some((t) => t.phase === 'fenced')) report.fenced.push(line);
    else if (told.some((t) => t.gate === 'OBSERVE')) report.wouldHaveFenced.push(line);
    else if (last === 'failed') report.failed.push(line);
    else if (gate !== undefined) report.stopped.push({ ...line, gate });
    else if (last !== undefined && closedPhases.includes(last)) report.over.push(line);
    else report.underWay.push(line);
  }
  return report;
}
