import type { IncidentRecord, NodeRecord } from '#contracts';
import type { GateFacts } from '#domain/incident/gates.js';
import type { AgeMs } from './ages.js';

/** Whom power devices are asked about beside everything else: nothing waits for their answers, and a later snapshot has them. */
export interface Suspicions {
  /** Silent: for the power, and whose the devices are. */
  readonly silent: readonly NodeRecord[];
  /** Whose the devices are, also where it is heard. */
  readonly identity: readonly NodeRecord[];
}

/** What is to be found out about one node before it is decided on: the verdict as of now, and all that gates look at. */
export interface Inquiry {
  readonly node: NodeRecord;
  readonly cause: IncidentRecord['cause'];
  /** It counts as DOWN while it is DEGRADED. */
  readonly degraded?: boolean;
  /** Its open incident; absent: one is to be opened. */
  readonly incident?: IncidentRecord;
}

/** What was found out about one node. */
export interface Investigation {
  /** With the verdict, by a live question, and what of its records has to be read live. */
  readonly gates: GateFacts;
  /** What its power devices have answered, for people. */
  readonly story: string;
  /** Other nodes that were not heard: who falls silent later may have fallen with it. */
  readonly silent: readonly string[];
  /** Since the detector was asked. */
  readonly askedAgo: AgeMs;
}
