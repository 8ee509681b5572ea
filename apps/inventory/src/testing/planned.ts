import type { ServiceContext } from '#service';
import { AfterAnswer } from '../store/after-answer.js';
import type { AuditService } from '../store/audit.service.js';
import { AlarmService } from '../alarms/alarm.service.js';
import { FlapWatch } from '../snapshot/flap-watch.js';
import { PowerQuarantine } from '../power/power-quarantine.js';
import { PeriodicReads } from '../snapshot/periodic-reads.js';
import { Refusals } from '../snapshot/refusals.js';
import { SubmissionWriter } from '../execute/submission-writer.js';
import { AgentUsers } from '../agent-users/agent-users.js';
import type { NatsUsers } from '../agent-users/nats-users.js';
import { RevocationService } from '../agents/revocation.service.js';
import { DatagramKeysService } from '../agents/datagram-keys.service.js';
import { ClaimsService } from '../claims/claims.service.js';
import { AgentWriter } from '../execute/agent-writer.js';
import { IncidentWriter } from '../execute/incident-writer.js';
import { IntentWriter } from '../execute/intent-writer.js';
import { JobWriter } from '../execute/job-writer.js';
import { MessageWriter } from '../execute/message-writer.js';
import { NodeWriter } from '../execute/node-writer.js';
import { WorkloadWriter } from '../execute/workload-writer.js';
import { PlanExecutor } from '../execute/plan-executor.js';
import type { Investigator } from '../incidents/investigator.js';
import { SettlementWriter } from '../execute/settlement-writer.js';
import type { IdentityReads } from '../identity/identity-reads.js';
import { IncidentService } from '../incidents/incident.service.js';
import type { PermitService } from '../incidents/permit.service.js';
import type { EditsService } from '../node-requests/edits.service.js';
import type { DegradedWatch } from '../nodes/degraded-watch.js';
import type { ServiceView } from '../nodes/service-view.js';
import { DegradedClock } from '../node-state/degraded-clock.js';
import type { FleetEvents } from '../node-state/fleet-events.js';
import { VerdictService } from '../node-state/verdict.service.js';
import { JobsService } from '../jobs/jobs.service.js';
import { NodeService } from '../nodes/node.service.js';
import type { OperationsService } from '../operations/operations.service.js';
import { ReservationBook } from '../operations/reservation-book.js';
import { IncidentAges } from '../power/incident-ages.js';
import { GenerationFloor } from '../workloads/generation-floor.js';
import { RecoverJobs } from '../workloads/recover-jobs.service.js';
import { WorkloadService } from '../workloads/workload.service.js';
import { StartFactsService } from '../reports/start-facts.js';
import { FleetSource } from '../snapshot/fleet-source.js';
import type { KnownNames } from '../store/known-names.js';
import { VerdictNow } from '../verdicts/verdict-now.js';
import type { MemoryStore } from './memory-store.js';

/** Snapshots of a store in memory. */
export function fleetSource(
  store: MemoryStore,
  o: {
    incidentAges?: IncidentAges;
    degraded?: DegradedWatch;
    identity?: IdentityReads;
    refusals?: Refusals;
    periodicReads?: PeriodicReads;
  } = {},
): FleetSource {
  const starts = new StartFactsService(store.asStore, store.reports);
  starts.onModuleInit();
  const degraded = { steps: () => store.degraded } as unknown as DegradedWatch;
  return new FleetSource(
    store.asStore,
    store.reports,
    starts,
    store.detector,
    store.conductor,
    o.incidentAges ?? incidentAges(store),
    o.degraded ?? degraded,
    o.identity ?? store.identity,
    new PowerQuarantine(store.asStore),
    new FlapWatch(store.asStore),
    o.refusals ?? new Refusals(store.asStore),
    { of: (name: string) => store.names.get(name) } as unknown as KnownNames,
    o.periodicReads ?? new PeriodicReads(store.asStore, store.identity),
    new AgentUsers(store.asStore),
    store.natsUsers as unknown as NatsUsers,
  );
}

/** Who keeps the keys of datagrams. */
const datagramKeys = (store: MemoryStore, fleets: FleetSource): DatagramKeysService => {
  const { bus, clock } = store;
  const context = { bus, clock, log: bus.log } as unknown as ServiceContext;
  return new DatagramKeysService(context, store.asStore, fleets);
};

/** Who shuts agents out. */
const revocationService = (store: MemoryStore): RevocationService => {
  const { bus, clock } = store;
  const inventory = store.asStore;
  return new RevocationService(
    { bus, clock, log: bus.log } as unknown as ServiceContext,
    inventory,
    new NodeService(inventory),
    new AgentUsers(inventory),
    store.natsUsers as unknown as NatsUsers,
    new AfterAnswer(inventory),
  );
};

/** Who looks at its incidents from now on. */
export const incidentAges = (store: MemoryStore): IncidentAges => new IncidentAges(store.asStore);

/**
 * What carries out plans, on a store in memory; acts of persons, and nodes that came or went, are told of in `store.told`.
 * @param o.operations who accepts jobs, and writes them to their end. @default nobody
 * @param o.edits who writes changes of several nodes at once. @default nobody
 * @param o.reads who asks power devices whose they are. @default nobody
 * @param o.incidentAges who has seen its incidents. @default one who begins now
 */
export function planExecutor(
  store: MemoryStore,
  o: {
    operations?: Partial<OperationsService>;
    edits?: Pick<EditsService, 'carryOut' | 'sweep'>;
    reads?: Pick<IdentityReads, 'read'>;
    incidentAges?: IncidentAges;
  } = {},
): PlanExecutor {
  const inventory = store.asStore;
  const refusals = new Refusals(inventory);
  const periodicReads = new PeriodicReads(inventory, (o.reads ?? store.identity) as IdentityReads);
  const fleets = fleetSource(store, {
    refusals,
    periodicReads,
    ...(o.incidentAges && { incidentAges: o.incidentAges }),
  });
  const audit = {
    of: async (by: string, action: string, subject: string, detail: string, act: () => Promise<unknown>) => {
      store.told.push(`${by} ${action} ${subject} ${detail}`);
      return act();
    },
  } as unknown as AuditService;
  // No claim is made here, for which alone it is asked.
  const book = new ReservationBook(inventory);
  const claims = new ClaimsService(inventory, book, {} as ServiceView);
  const nodes = new NodeService(inventory);
  const events = { note: (change: string, node: string) => void store.told.push(`${change} ${node}`) };
  const operations = (o.operations ?? {}) as OperationsService;
  const writer = new IntentWriter(
    inventory,
    fleets,
    new NodeWriter(nodes, (o.edits ?? {}) as EditsService, audit),
    new WorkloadWriter(new WorkloadService(inventory, new GenerationFloor(inventory), book, store.reports)),
    // No incident is opened here, for which alone the audit is written; and no permit is taken.
    new IncidentWriter(
      inventory,
      new IncidentService(inventory, audit, new AfterAnswer(inventory)),
      {} as PermitService,
      fleets,
    ),
    new JobWriter(
      inventory,
      new RecoverJobs(inventory),
      claims,
      operations,
      new SettlementWriter(inventory, nodes, book),
      book,
    ),
    new SubmissionWriter(inventory, fleets, operations, refusals, new JobsService(inventory, operations)),
    new MessageWriter(
      inventory,
      new AlarmService(inventory),
      new VerdictNow({ bus: store.bus, log: store.bus.log } as unknown as ServiceContext),
      new VerdictService(inventory, nodes, new DegradedClock(inventory), events as unknown as FleetEvents),
    ),
    new AgentWriter(datagramKeys(store, fleets), nodes, new AgentUsers(inventory), revocationService(store)),
    periodicReads,
  );
  // Nothing is found out here that no view shows.
  return new PlanExecutor(inventory, fleets, writer, {} as Investigator);
}
