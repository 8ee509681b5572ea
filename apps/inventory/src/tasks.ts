import type { Type } from '@nestjs/common';
import { DuplicateAlarmsReconciler } from './agents/duplicate-alarms.reconciler.js';
import { KeyRotationReconciler } from './agents/key-rotation.reconciler.js';
import { RevocationReconciler } from './agents/revocation.reconciler.js';
import { CheckAlarmsReconciler } from './checks/check-alarms.reconciler.js';
import { PeriodicCheckReconciler } from './checks/periodic-check.reconciler.js';
import { ClaimExpiryReconciler } from './claims/claim-expiry.reconciler.js';
import { EVERYTHING, PERIOD_MS, type Reconciler, type Task, type TaskPlan } from './conductor/task.js';
import { TaskAlarmsReconciler } from './conductor/task-alarms.reconciler.js';
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
import { EditForwardReconciler } from './node-requests/edit-forward.reconciler.js';
import { VerdictCatchUpReconciler } from './node-state/verdict-catch-up.reconciler.js';
import { VerdictRetentionReconciler } from './node-state/verdict-retention.reconciler.js';
import { OrphanHoldsReconciler } from './operations/orphan-holds.reconciler.js';
import { RollForwardReconciler } from './operations/roll-forward.reconciler.js';
import { RecordsService } from './records/records.service.js';
import { AbsenceReconciler } from './recovery/absence.reconciler.js';
import { MoveReconciler } from './recovery/move.reconciler.js';
import { RecoveryReconciler } from './recovery/recovery.reconciler.js';
import { StopReconciler } from './recovery/stop.reconciler.js';
import { WorkloadReconciler } from './recovery/workload.reconciler.js';
import { ReturnReconciler } from './returns/return.reconciler.js';
import { StartGatesReconciler } from './start-gates/start-gates.reconciler.js';
import { DriverReconciler } from './status/driver.reconciler.js';

/** A concern, and the provider that drives it. */
export interface TaskRow extends TaskPlan {
  readonly by: Type<Reconciler>;
}

const row = (name: string, by: Type<Reconciler>, severity: TaskPlan['severity']): TaskRow => ({
  name,
  by,
  watches: EVERYTHING,
  periodMs: PERIOD_MS,
  severity,
});

/**
 * Everything that the conductor drives, in the order in which one change wakes it. Each is woken by every change of
 * everything: that is known to be enough, and which changes one can do without is to be shown one by one.
 */
export const tasks: readonly TaskRow[] = [
  row('token-guard', TokenGuardReconciler, 'critical'),
  row('verdict-retention', VerdictRetentionReconciler, 'warning'),
  row('duplicate-alarms', DuplicateAlarmsReconciler, 'warning'),
  row('datagram-keys', KeyRotationReconciler, 'warning'),
  row('orphan-holds', OrphanHoldsReconciler, 'warning'),
  row('detection-alarms', DetectionAlarmsReconciler, 'warning'),
  row('dead-work', DeadWorkReconciler, 'warning'),
  row('incident-alarms', IncidentAlarmsReconciler, 'warning'),
  row('incident-events', IncidentTeller, 'warning'),
  row('job-settlement', JobSettlementReconciler, 'critical'),
  row('job-retention', JobRetentionReconciler, 'warning'),
  row('check-alarms', CheckAlarmsReconciler, 'warning'),
  row('records', RecordsService, 'warning'),
  row('drivers', DriverReconciler, 'warning'),
  row('power-identity', IdentityReconciler, 'warning'),
  row('cordon-end', CordonEndReconciler, 'warning'),
  row('claim-expiry', ClaimExpiryReconciler, 'warning'),
  row('verdict-catch-up', VerdictCatchUpReconciler, 'critical'),
  row('revocations', RevocationReconciler, 'warning'),
  row('edit-forward', EditForwardReconciler, 'warning'),
  row('roll-forward', RollForwardReconciler, 'critical'),
  row('returns', ReturnReconciler, 'critical'),
  row('storms', StormReconciler, 'critical'),
  row('absences', AbsenceReconciler, 'critical'),
  row('moves', MoveReconciler, 'critical'),
  row('stops', StopReconciler, 'critical'),
  row('start-gates', StartGatesReconciler, 'critical'),
  row('workloads', WorkloadReconciler, 'critical'),
  row('incidents', IncidentReconciler, 'critical'),
  row('power-orders', PowerOrderReconciler, 'warning'),
  row('periodic-checks', PeriodicCheckReconciler, 'warning'),
  row('recovery', RecoveryReconciler, 'critical'),
  row('task-alarms', TaskAlarmsReconciler, 'warning'),
];

/** The list, each with what drives it. */
export const tasksBy = (provide: (by: Type<Reconciler>) => Reconciler): Task[] =>
  tasks.map(({ by, ...plan }) => ({ ...plan, reconciler: provide(by) }));
