import type { Type } from '@nestjs/common';
import { EVERYTHING, PERIOD_MS, type Reconciler, type Task, type TaskPlan } from './conductor/task.js';
import { IncidentEvents } from './incidents/incident-events.js';
import { RecordsService } from './records/records.service.js';
import { PlanExecutor } from './execute/plan-executor.js';
import { keyExchange } from './plan/agents/key-exchange.js';
import { connectedUsers, revocationRepair, revocations } from './plan/agents/revocations.js';
import { alarmsOfDetection } from './plan/alarms/alarms-of-detection.js';
import { absences } from './plan/nodes/absences.js';
import { checkAlarms } from './plan/alarms/check-alarms.js';
import { checksCalledOff } from './plan/checks/checks-called-off.js';
import { periodicChecks } from './plan/checks/periodic-checks.js';
import { claimExpiry } from './plan/jobs/claim-expiry.js';
import type { Concern } from './plan/concern.js';
import { cordonEnd } from './plan/nodes/cordon-end.js';
import { deadWork } from './plan/alarms/dead-work.js';
import { drivers } from './plan/alarms/drivers.js';
import { duplicateAlarms } from './plan/alarms/duplicate-alarms.js';
import { editForward } from './plan/nodes/edit-forward.js';
import { fencingWaits } from './plan/incidents/fencing-waits.js';
import { alarmsOfIncidents } from './plan/incidents/alarms-of-incidents.js';
import { incidents } from './plan/incidents/incidents.js';
import { missedBoots } from './plan/incidents/missed-boots.js';
import { storms } from './plan/incidents/storms.js';
import { jobRetention } from './plan/jobs/job-retention.js';
import { jobSettlement } from './plan/jobs/settlement.js';
import { orphanHoldsEnd } from './plan/jobs/orphan-holds.js';
import { alarmsOfIdentity } from './plan/power/alarms-of-identity.js';
import { periodicReads } from './plan/power/periodic-reads.js';
import { powerOrders } from './plan/power/power-orders.js';
import { returns } from './plan/returns/returns.js';
import { rollForward } from './plan/jobs/roll-forward.js';
import { recovery } from './plan/recovery/recovery.js';
import { startGates } from './plan/workloads/start-gates.js';
import { moves } from './plan/workloads/moves.js';
import { starts } from './plan/workloads/starts.js';
import { stops } from './plan/workloads/stops.js';
import { alarmsOfTasks } from './plan/alarms/task-alarms.js';
import { tokenGuard } from './plan/store/token-guard.js';
import { verdictCatchUp } from './plan/nodes/verdict-catch-up.js';
import { verdictRetention } from './plan/store/verdict-retention.js';

/** A concern, and what drives it: its plan, or a provider. */
export type TaskRow = TaskPlan & ({ readonly plan: Concern<string> } | { readonly by: Type<Reconciler> });

/** What a death, a return or an order waits for: a second each would add up. */
const atOnce = { watches: EVERYTHING, periodMs: PERIOD_MS };
/** What nobody waits for: no change wakes it. */
const inTime = { watches: [], periodMs: PERIOD_MS };

type When = Pick<TaskPlan, 'watches' | 'periodMs'>;
type Severity = TaskPlan['severity'];
const row = (name: string, by: Type<Reconciler>, severity: Severity, when: When = atOnce): TaskRow => ({
  ...{ ...when, name, by, severity },
});
const planned = (name: string, plan: Concern<string>, severity: Severity, when: When = atOnce): TaskRow => ({
  ...{ ...when, name, plan, severity },
});

/** Everything that the conductor drives, in the order in which one change wakes it. */
export const tasks: readonly TaskRow[] = [
  planned('token-guard', tokenGuard, 'critical'),
  planned('verdict-retention', verdictRetention, 'warning', inTime),
  planned('duplicate-alarms', duplicateAlarms, 'warning', inTime),
  planned('datagram-keys', keyExchange, 'warning'),
  planned('orphan-holds', orphanHoldsEnd, 'warning', inTime),
  planned('detection-alarms', alarmsOfDetection, 'warning'),
  planned('dead-work', deadWork, 'warning'),
  planned('incident-alarms', alarmsOfIncidents, 'warning'),
  planned('fencing-waits', fencingWaits, 'warning', inTime),
  planned('missed-boots', missedBoots, 'warning', inTime),
  row('incident-events', IncidentEvents, 'warning'),
  planned('job-settlement', jobSettlement, 'critical'),
  planned('job-retention', jobRetention, 'warning', inTime),
  planned('check-alarms', checkAlarms, 'warning', inTime),
  row('records', RecordsService, 'warning'),
  planned('drivers', drivers, 'warning', inTime),
  planned('power-identity', periodicReads, 'warning', inTime),
  planned('identity-alarms', alarmsOfIdentity, 'warning'),
  planned('cordon-end', cordonEnd, 'warning', inTime),
  planned('claim-expiry', claimExpiry, 'warning', inTime),
  planned('verdict-catch-up', verdictCatchUp, 'critical'),
  planned('revocations', revocations, 'warning'),
  planned('revocation-repair', revocationRepair, 'warning', inTime),
  planned('connected-users', connectedUsers, 'warning', inTime),
  planned('edit-forward', editForward, 'warning'),
  planned('roll-forward', rollForward, 'critical'),
  planned('returns', returns, 'critical'),
  planned('storms', storms, 'critical'),
  planned('absences', absences, 'critical'),
  planned('moves', moves, 'critical'),
  planned('stops', stops, 'critical'),
  planned('start-gates', startGates, 'critical'),
  planned('workloads', starts, 'critical'),
  planned('incidents', incidents, 'critical'),
  planned('power-orders', powerOrders, 'warning'),
  planned('checks-called-off', checksCalledOff, 'warning'),
  planned('periodic-checks', periodicChecks, 'warning', inTime),
  planned('recovery', recovery, 'critical'),
  planned('task-alarms', alarmsOfTasks, 'warning', inTime),
];

/** The list, each with what drives it. */
export const tasksBy = (provide: <T extends object>(by: Type<T>) => T): Task[] =>
  tasks.map((task) => {
    const { name, watches, periodMs, severity } = task;
    const reconciler = 'plan' in task ? provide(PlanExecutor).drive(task.plan) : provide(task.by);
    return { name, watches, periodMs, severity, reconciler };
  });
