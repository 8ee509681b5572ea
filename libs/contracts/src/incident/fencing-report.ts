import type { GateCode } from './incident.js';

/** One incident of the period. */
export interface FencingReportLine {
  node: string;
  incident: string;
  /** Of the first that is kept of it: wall clock, ms. */
  at: number;
}

/** One that is over, and was not fenced. */
export interface FencingReportOver extends FencingReportLine {
  /**
   * `survived`: it was ordered off and lived on. `taken-back`: cancelled by an operator, before its first command. `by-verdict`: by
   * itself, its node was heard again for the most part.
   */
  end: 'survived' | 'taken-back' | 'by-verdict';
  /** Who cancelled it. */
  by?: string;
  /** The last gate that had stopped it; absent: none had. */
  gate?: GateCode;
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
  /** Stopped by a gate, the last one that did, and not over. */
  stopped: (FencingReportLine & { gate: GateCode })[];
  /** Could not be proven off. */
  failed: FencingReportLine[];
  /** Over without a proof of off. */
  over: FencingReportOver[];
  /** Not decided yet. */
  underWay: FencingReportLine[];
}
