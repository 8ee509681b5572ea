import type { GateCode } from './incident.js';

/** One incident of the period. */
export interface FencingReportLine {
  node: string;
  incident: string;
  /** Of the first that is kept of it: wall clock, ms. */
  at: number;
}

/** What mode `observe` has kept from being done. It counts incidents: a node that died twice counts twice. */
export interface Observing {
  /** Wall clock, ms: so far back both is known that the mode stands, and is kept what was decided. */
  since: number;
  /** The mode stood before that already; absent: it was set then. */
  atLeast?: true;
  /** Incidents since then that would have been fenced. */
  wouldHaveFenced: number;
  /** Incidents since then that gate CAP or FLAPPING would have stopped. */
  wouldHaveStopped: number;
}

/** What was decided about dead nodes in a period, by the events that are kept. */
export interface FencingReport {
  /** Wall clock, ms. */
  since: number;
  /** Nothing from before this is kept; absent: all of the period is. */
  keptSince?: number;
  /** As of now. */
  mode: 'observe' | 'enforce';
  /** Absent: the mode is `enforce`. */
  observing?: Observing;
  /** Proven off. */
  fenced: FencingReportLine[];
  /**
   * Mode `observe` alone stood in the way: gates CAP and FLAPPING would have let it pass, with what would have been fenced
   * before it counted as such.
   */
  wouldHaveFenced: FencingReportLine[];
  /**
   * Mode `observe` stood in the way, and else CAP or FLAPPING would have for as long as it did: too many others, or the
   * node itself too often, would have been fenced within the ten minutes before.
   */
  wouldHaveStopped: (FencingReportLine & { gate: GateCode })[];
  /** Stopped by a gate, the last one that did. */
  stopped: (FencingReportLine & { gate: GateCode })[];
  /** Could not be proven off. */
  failed: FencingReportLine[];
  /** Ended by itself before anything was decided: the node was heard again, or somebody took it back. */
  over: FencingReportLine[];
  /** Not decided yet. */
  underWay: FencingReportLine[];
}
