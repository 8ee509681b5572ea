import type { FencingSettings, IncidentRecord, JobRecord, NodeRecord, PlanItem, StormView } from '#contracts';
import type { Placement } from '#domain/workload/placement.js';
import type { IncidentViews } from '../plan/incidents/incident-views.js';
import type { AbsenceView } from '../plan/nodes/absences.js';
import type { EndingCordon } from '../plan/nodes/cordon-end.js';
import type { ReturnNow } from '../plan/returns/returns.js';
import type { ProofStep } from '../plan/recovery/proof-step.js';
import type { MovesView } from '../plan/workloads/moves.js';
import type { StopView } from '../plan/workloads/stops.js';
import type { StartStep } from '../plan/workloads/start-steps.js';

/** Of an item, all but what it is about. */
export type ItemText = Pick<PlanItem, 'does' | 'next' | 'reason' | 'again'>;

/** An incident whose node is proven off, or whose power an operator has ordered. */
export interface PowerPreview {
  incident: IncidentRecord;
  node: NodeRecord | undefined;
  /** What becomes of its proof, while the incident is `fenced`. */
  proof?: ProofStep;
  /** The node speaks in the boot that its proof of off says has ended. */
  isContradicted: boolean;
  /** Until its last `off` can take effect no more, ms. */
  quarantineLeftMs: number;
}

/** What each concern of the conductor would do next, as of one moment. Each is answered by the decider that acts. */
export interface PlanFacts {
  fencing: FencingSettings;
  incidents: IncidentViews;
  /** Workloads that are assigned to dead nodes, and where they would go now. */
  dead: { workload: string; from: string; place: Placement }[];
  power: PowerPreview[];
  storms: StormView[];
  workloads: readonly StartStep[];
  stops: readonly StopView[];
  absences: readonly AbsenceView[];
  /** Undefined: a view has a gap, and nothing is moved. */
  moves: MovesView | undefined;
  returns: readonly ReturnNow[];
  /** Periodic checks: the nodes whose begins now, and those under way that are called off. */
  checks: { begin: readonly string[]; off: readonly JobRecord[] };
  /** That have not ended, or whose nodes have not followed. */
  jobs: JobRecord[];
  /** To which an end was given. */
  cordons: readonly EndingCordon[];
  /** Wall clock, ms. */
  wallMs: number;
}
