import type { Type } from '@nestjs/common';
import { DuplicateAlarmsReconciler } from './agents/duplicate-alarms.reconciler.js';
import { KeyRotationReconciler } from './agents/key-rotation.reconciler.js';
import { RevocationReconciler } from './agents/revocation.reconciler.js';
import { CheckAlarmsReconciler } from './checks/check-alarms.reconciler.js';
import { PeriodicCheckReconciler } from './checks/periodic-check.reconciler.js';
import { ClaimExpiryReconciler } from './claims/claim-expiry.reconciler.js';
import { EVERYTHING, type Reconciler, type Task, type TaskPlan } from './conductor/task.js';
import { TokenGuardReconciler } from './conductor/token-guard.reconciler.js';
import { IdentityReconciler } from './identity/identity.reconciler.js';
import { DeadWorkReconciler } from './incidents/dead-work.reconciler.js';
import { IncidentAlarmsReconciler } from './incidents/incident-alarms.reconciler.js';
import { IncidentTeller } from './incidents/incident-teller.js';
import { IncidentReconciler } from './incidents/incident.reconciler.js';
import { PowerOrderReconciler } from './incidents/power-order.reconciler.js';
import { StormReconciler } from './incidents/storm.reconciler.js';
import { JobRetentionReconciler } from './jobs/job-retention.reconciler.js';
import { JobSettlementReconciler } from './jobs/job-settlement.reconciler.js';
import { DetectionAlarmsReconciler } from './monitor/detection-alarms.reconciler.js';
import { CordonEndReconciler } from './nodes/cordon-end.reconciler.js';
import { EditForwardReconciler } from './nodes/edit-forward.reconciler.js';
import { VerdictCatchUpReconciler } from './nodes/verdict-catch-up.reconciler.js';
import { VerdictRetentionReconciler } from './nodes/verdict-retention.reconciler.js';
import { OrphanHoldsReconciler } from './operations/orphan-holds.reconciler.js';
import { RollForwardReconciler } from './operations/roll-forward.reconciler.js';
import { RecordsService } from './records/records.service.js';
import { AbsenceReconciler } from './recovery/absence.reconciler.js';
import { MoveReconciler } from './recovery/move.reconciler.js';
import { RecoveryReconciler } from './recovery/recovery.reconciler.js';
import { StopReconciler } from './recovery/stop.reconciler.js';
import { WorkloadReconciler } from './recovery/workload.reconciler.js';
import { ReturnReconciler } from './returns/return.reconciler.js';
import { DriverReconciler } from './status/driver.reconciler.js';

/** A concern, and the provider that drives it. */
export interface TaskRow extends TaskPlan {
  readonly by: Type<Reconciler>;
}

/** Where nothing wakes a task, ms. */
const SECOND = 1000;

const row = (name: string, by: Type<Reconciler>): TaskRow => ({
  name,
  by,
  watches: EVERYTHING,
  periodMs: SECOND,
});

/**
 * Everything that the conductor drives, in the order in which one change wakes it. Each is woken by every change of
 * everything: that is known to be enough, and which changes one can do without is to be shown one by one.
 */
export const tasks: readonly TaskRow[] = [
  row('token-guard', TokenGuardReconciler),
  row('verdict-retention', VerdictRetentionReconciler),
  row('duplicate-alarms', DuplicateAlarmsReconciler),
  row('datagram-keys', KeyRotationReconciler),
  row('orphan-holds', OrphanHoldsReconciler),
  row('detection-alarms', DetectionAlarmsReconciler),
  row('dead-work', DeadWorkReconciler),
  row('incident-alarms', IncidentAlarmsReconciler),
  row('incident-events', IncidentTeller),
  row('job-settlement', JobSettlementReconciler),
  row('job-retention', JobRetentionReconciler),
  row('check-alarms', CheckAlarmsReconciler),
  row('records', RecordsService),
  row('drivers', DriverReconciler),
  row('power-identity', IdentityReconciler),
  row('cordon-end', CordonEndReconciler),
  row('claim-expiry', ClaimExpiryReconciler),
  row('verdict-catch-up', VerdictCatchUpReconciler),
  row('revocations', RevocationReconciler),
  row('edit-forward', EditForwardReconciler),
  row('roll-forward', RollForwardReconciler),
  row('returns', ReturnReconciler),
  row('storms', StormReconciler),
  row('absences', AbsenceReconciler),
  row('moves', MoveReconciler),
  row('stops', StopReconciler),
  row('workloads', WorkloadReconciler),
  row('incidents', IncidentReconciler),
  row('power-orders', PowerOrderReconciler),
  row('periodic-checks', PeriodicCheckReconciler),
  row('recovery', RecoveryReconciler),
];

/** The list, each with what drives it. */
export const tasksBy = (provide: (by: Type<Reconciler>) => Reconciler): Task[] =>
  tasks.map(({ by, ...plan }) => ({ ...plan, reconciler: provide(by) }));
