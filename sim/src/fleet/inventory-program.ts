import type { Logger } from 'pino';
import type { Bus } from '#bus';
import type { ClusterSettings } from '#contracts';
import { buildConfig, ServiceContext } from '#service';
import { AgentUsers } from '../../../apps/inventory/src/agents/agent-users.js';
import { RevocationService } from '../../../apps/inventory/src/agents/revocation.service.js';
import { AlarmService } from '../../../apps/inventory/src/alarms/alarm.service.js';
import { CheckAlarmsReconciler } from '../../../apps/inventory/src/checks/check-alarms.reconciler.js';
import { ClaimExpiryReconciler } from '../../../apps/inventory/src/claims/claim-expiry.reconciler.js';
import { ClaimsService } from '../../../apps/inventory/src/claims/claims.service.js';
import { ConductorService } from '../../../apps/inventory/src/conductor/conductor.service.js';
import { TokenGuardReconciler } from '../../../apps/inventory/src/conductor/token-guard.reconciler.js';
import { IdentityReads } from '../../../apps/inventory/src/identity/identity-reads.js';
import { IdentityReconciler } from '../../../apps/inventory/src/identity/identity.reconciler.js';
import { DeadWorkReconciler } from '../../../apps/inventory/src/incidents/dead-work.reconciler.js';
import { FencingSettingsService } from '../../../apps/inventory/src/incidents/fencing-settings.service.js';
import { GateFactsService } from '../../../apps/inventory/src/incidents/gate-facts.js';
import { IncidentAlarmsReconciler } from '../../../apps/inventory/src/incidents/incident-alarms.reconciler.js';
import { IncidentTeller } from '../../../apps/inventory/src/incidents/incident-teller.js';
import { IncidentReconciler } from '../../../apps/inventory/src/incidents/incident.reconciler.js';
import { IncidentService } from '../../../apps/inventory/src/incidents/incident.service.js';
import { IncidentsController } from '../../../apps/inventory/src/incidents/incidents.controller.js';
import { OperatorOrders } from '../../../apps/inventory/src/incidents/operator-orders.service.js';
import { PermitService } from '../../../apps/inventory/src/incidents/permit.service.js';
import { PowerEvidence } from '../../../apps/inventory/src/incidents/power-evidence.js';
import { PowerOrderReconciler } from '../../../apps/inventory/src/incidents/power-order.reconciler.js';
import { PowerOrders } from '../../../apps/inventory/src/incidents/power-orders.service.js';
import { RecheckService } from '../../../apps/inventory/src/incidents/recheck.service.js';
import { StormReconciler } from '../../../apps/inventory/src/incidents/storm.reconciler.js';
import { StormsService } from '../../../apps/inventory/src/incidents/storms.service.js';
import { VerdictNow } from '../../../apps/inventory/src/incidents/verdict-now.js';
import { JobRetentionReconciler } from '../../../apps/inventory/src/jobs/job-retention.reconciler.js';
import { JobSettlementReconciler } from '../../../apps/inventory/src/jobs/job-settlement.reconciler.js';
import { JobsService } from '../../../apps/inventory/src/jobs/jobs.service.js';
import { DetectorView } from '../../../apps/inventory/src/monitor/detector-view.js';
import { CordonEndReconciler } from '../../../apps/inventory/src/nodes/cordon-end.reconciler.js';
import { DegradedClock } from '../../../apps/inventory/src/nodes/degraded-clock.js';
import { DegradedWatch } from '../../../apps/inventory/src/nodes/degraded-watch.js';
import { DeletionsService } from '../../../apps/inventory/src/nodes/deletions.service.js';
import { EditForwardReconciler } from '../../../apps/inventory/src/nodes/edit-forward.reconciler.js';
import { EditsService } from '../../../apps/inventory/src/nodes/edits.service.js';
import { FleetEvents } from '../../../apps/inventory/src/nodes/fleet-events.js';
import { NodeService } from '../../../apps/inventory/src/nodes/node.service.js';
import { NodesService } from '../../../apps/inventory/src/nodes/nodes.service.js';
import { PowerSecrets } from '../../../apps/inventory/src/nodes/power-secrets.js';
import { RemovableNodes } from '../../../apps/inventory/src/nodes/removable-nodes.js';
import { ServiceView } from '../../../apps/inventory/src/nodes/service-view.js';
import { VerdictCatchUpReconciler } from '../../../apps/inventory/src/nodes/verdict-catch-up.reconciler.js';
import { VerdictConsumer } from '../../../apps/inventory/src/nodes/verdict.consumer.js';
import { VerdictService } from '../../../apps/inventory/src/nodes/verdict.service.js';
import { OperationsController } from '../../../apps/inventory/src/operations/operations.controller.js';
import { OperationsService } from '../../../apps/inventory/src/operations/operations.service.js';
import { OrphanHoldsReconciler } from '../../../apps/inventory/src/operations/orphan-holds.reconciler.js';
import { ReservationBook } from '../../../apps/inventory/src/operations/reservation-book.js';
import { RollForwardReconciler } from '../../../apps/inventory/src/operations/roll-forward.reconciler.js';
import { AbsenceReconciler } from '../../../apps/inventory/src/recovery/absence.reconciler.js';
import { CollateralWatch } from '../../../apps/inventory/src/recovery/collateral-watch.js';
import { Contradictions } from '../../../apps/inventory/src/recovery/contradictions.js';
import { DrainController } from '../../../apps/inventory/src/recovery/drain.controller.js';
import { GateResponder } from '../../../apps/inventory/src/recovery/gate.responder.js';
import { GenerationFloor } from '../../../apps/inventory/src/recovery/generation-floor.js';
import { HostsView } from '../../../apps/inventory/src/recovery/hosts.js';
import { MayStartService } from '../../../apps/inventory/src/recovery/may-start.service.js';
import { MoveReconciler } from '../../../apps/inventory/src/recovery/move.reconciler.js';
import { RecoverJobs } from '../../../apps/inventory/src/recovery/recover-jobs.service.js';
import { RecoveryReconciler } from '../../../apps/inventory/src/recovery/recovery.reconciler.js';
import { ReportsView } from '../../../apps/inventory/src/recovery/reports-view.js';
import { StandingService } from '../../../apps/inventory/src/recovery/standing.service.js';
import { StartFactsService } from '../../../apps/inventory/src/recovery/start-facts.js';
import { StopReconciler } from '../../../apps/inventory/src/recovery/stop.reconciler.js';
import { WorkloadReconciler } from '../../../apps/inventory/src/recovery/workload.reconciler.js';
import { WorkloadService } from '../../../apps/inventory/src/recovery/workload.service.js';
import { WorkloadsController } from '../../../apps/inventory/src/recovery/workloads.controller.js';
import { FlapWatch } from '../../../apps/inventory/src/returns/flap-watch.js';
import { PowerQuarantine } from '../../../apps/inventory/src/returns/power-quarantine.js';
import { ReturnReconciler } from '../../../apps/inventory/src/returns/return.reconciler.js';
import { SettingsService } from '../../../apps/inventory/src/settings/settings.service.js';
import { DriverReconciler } from '../../../apps/inventory/src/status/driver.reconciler.js';
import { AfterAnswer } from '../../../apps/inventory/src/store/after-answer.js';
import { AuditService } from '../../../apps/inventory/src/store/audit.service.js';
import { InventoryStore } from '../../../apps/inventory/src/store/inventory-store.js';
import { KnownNames } from '../../../apps/inventory/src/store/known-names.js';
import { answerRpcs, type RpcHandlers } from '../nats/answer-rpc.js';
import type { Running } from '../process/sim-process.js';

/** Where the server of the bus runs, which is no node of the fleet. */
const CONTROL = { name: 'control-1', address: '192.0.2.250' };

export interface InventoryProgramParts {
  bus: Bus;
  instance: string;
  /** Of a new installation. */
  initial: Partial<ClusterSettings>;
}

/**
 * Inventory as a process: all that follows a verdict, composed by constructors on one life's bus. Left out is what no
 * verdict leads to: enrolment and keys of agents, files of nodes, webhooks, tokens, the look after the store, pages of status.
 */
export async function startInventory({ bus, instance, initial }: InventoryProgramParts): Promise<Running> {
  const values = { cluster: 'sim', instance, dataDir: 'played', initial };
  const config = buildConfig({ ...values, nats: { servers: [`nats://${CONTROL.name}:4222`] } }, undefined, 'sim');
  // What services ask of their log is what the bus has; nothing here asks for pino's own.
  const context = new ServiceContext(config, bus, bus.log as unknown as Logger, 'inventory');
  const store = await InventoryStore.open(bus, { cluster: 'sim', replicas: 1 });
  const names = new KnownNames(context, { addressesOf: () => Promise.resolve([CONTROL.address]) });
  const settings = new SettingsService(context, store);
  const conductor = new ConductorService(context, store);

  const alarms = new AlarmService(store);
  const nodeService = new NodeService(store);
  const detector = new DetectorView(context);
  const degraded = new DegradedWatch(store, detector);
  const service = new ServiceView(store, detector);
  const after = new AfterAnswer(store);
  const audit = new AuditService(store, after);
  const book = new ReservationBook(store);
  const reports = new ReportsView(context);
  const collateral = new CollateralWatch(store, detector, reports);
  const startFacts = new StartFactsService(store, reports);
  const standing = new StandingService(store, reports, detector);
  const identity = new IdentityReads(context, store, nodeService);
  const power = new PowerEvidence(context);
  const verdictNow = new VerdictNow(context);
  const gates = new GateFactsService(context, store, detector, reports, power, names);
  const permits = new PermitService(store, gates);
  const incidents = new IncidentService(store, audit, after);
  const quarantine = new PowerQuarantine(store);
  const operations = new OperationsService(store, book, nodeService, service, quarantine, after);
  const jobs = new JobsService(store, operations);
  const fleet = new FleetEvents(store);
  const degradedClock = new DegradedClock(store);
  const verdicts = new VerdictService(store, nodeService, degradedClock, fleet);
  const verdictConsumer = new VerdictConsumer(store, verdicts);
  const orders = new OperatorOrders(store, incidents, gates, verdictNow, power);
  const hosts = new HostsView(store, service);
  const workloads = new WorkloadService(store, new GenerationFloor(store), book, reports);
  const recoverJobs = new RecoverJobs(store);
  const contradictions = new Contradictions(store, reports);
  const flaps = new FlapWatch(store);
  const claims = new ClaimsService(store, book, service);
  const secrets = new PowerSecrets(context);
  const users = new AgentUsers(store);
  const edits = new EditsService(store, secrets, users);
  const revocations = new RevocationService(context, store, nodeService, users, after);
  const deletions = new DeletionsService(store, edits, revocations, new RemovableNodes(store, reports, quarantine));
  const nodes = new NodesService(store, nodeService, service, secrets, quarantine, names);
  const gateResponder = new GateResponder(context, store);
  const tokenGuard = new TokenGuardReconciler(store, alarms, conductor);
  // They add themselves to the conductor.
  new IdentityReconciler(conductor, store, alarms, identity, names);
  new DeadWorkReconciler(store, alarms, detector, conductor);
  new IncidentAlarmsReconciler(store, alarms, gates, detector, conductor);
  new IncidentReconciler(
    context,
    store,
    detector,
    verdictNow,
    gates,
    permits,
    power,
    incidents,
    degraded,
    collateral,
    identity,
    conductor,
  );
  new IncidentTeller(store, conductor);
  new PowerOrderReconciler(store, incidents, conductor);
  new StormReconciler(permits, conductor);
  new JobSettlementReconciler(conductor, store, nodeService, book);
  new JobRetentionReconciler(conductor, store);
  new CordonEndReconciler(conductor, store, nodeService, audit);
  new EditForwardReconciler(conductor, store, edits);
  new VerdictCatchUpReconciler(conductor, store, detector, verdicts);
  new RollForwardReconciler(conductor, store, operations);
  new OrphanHoldsReconciler(conductor, store);
  new AbsenceReconciler(context, store, alarms, workloads, startFacts, conductor);
  new MoveReconciler(
    context,
    store,
    nodeService,
    alarms,
    workloads,
    startFacts,
    hosts,
    quarantine,
    degraded,
    conductor,
  );
  const placing = new WorkloadReconciler(
    context,
    store,
    alarms,
    workloads,
    startFacts,
    hosts,
    recoverJobs,
    contradictions,
    conductor,
  );
  new RecoveryReconciler(
    context,
    store,
    nodeService,
    alarms,
    incidents,
    workloads,
    placing,
    contradictions,
    collateral,
    conductor,
  );
  new StopReconciler(context, store, workloads, startFacts, recoverJobs, conductor);
  new ReturnReconciler(conductor, store, nodeService, operations, quarantine, flaps, startFacts);
  new CheckAlarmsReconciler(conductor, store, alarms);
  new ClaimExpiryReconciler(conductor, store, claims);
  new DriverReconciler(conductor, store, service, alarms);

  const incidentsController = new IncidentsController(
    incidents,
    orders,
    new RecheckService(store, incidents, verdictNow, gates),
    new FencingSettingsService(store, incidents, gates, identity),
    new StormsService(store, gates, permits, incidents, orders, audit),
    audit,
  );
  const powerOrders = new PowerOrders(store, orders, gates, quarantine);
  const storms = new StormsService(store, gates, permits, incidents, orders, audit);
  const workloadsController = new WorkloadsController(
    workloads,
    new MayStartService(store, workloads, startFacts),
    standing,
    audit,
  );
  const operationsController = new OperationsController(operations, audit);
  const drain = new DrainController(context, nodeService, service, audit);
  const handlers: RpcHandlers = {
    'inventory.incidents.recheck': (q) => incidentsController.recheck(q),
    'inventory.incidents.release': (q) => incidentsController.release(q),
    'inventory.incidents.confirm': (q) => incidentsController.confirm(q),
    'inventory.incidents.cancel': (q) => incidentsController.cancel(q),
    'inventory.nodes.fence': (q) => incidentsController.fence(q),
    'inventory.nodes.power': (q) => powerOrders.act(q),
    'inventory.fencing.put': (q) => incidentsController.putFencing(q),
    'inventory.storms.list': () => ({ items: storms.list() }),
    'inventory.storms.release': (q) => storms.release(q),
    'inventory.workloads.put': (q) => workloadsController.put(q),
    'inventory.workloads.mayStart': (q) => workloadsController.mayStart(q),
    'inventory.operations.submit': (q) => operationsController.submit(q),
    'inventory.jobs.cancel': (q) => jobs.cancel(q.id, q.by),
    'inventory.claims.create': (q) => claims.create(q),
    'inventory.claims.delete': async (q) => {
      await claims.delete(q.id);
      return {};
    },
    'inventory.nodes.cordon': (q) => nodes.cordon(q.name, q.by, q.reason, q.until),
    'inventory.nodes.uncordon': (q) => nodes.uncordon(q.name),
    'inventory.nodes.drain': (q) => drain.drain(q),
    'inventory.nodes.delete': async (q) => {
      await deletions.delete(q.name, q.by, q.revision);
      return {};
    },
  };

  await settings.writeInitial();
  detector.onModuleInit();
  gates.onModuleInit();
  reports.onModuleInit();
  const answers = answerRpcs(bus, 'inventory', handlers);
  conductor.onApplicationBootstrap();
  verdictConsumer.onApplicationBootstrap();
  gateResponder.onApplicationBootstrap();
  await tokenGuard.onApplicationBootstrap();
  await bus.flushed();
  return {
    stop: async () => {
      await answers.close();
      await conductor.onApplicationShutdown();
      await Promise.all([
        verdictConsumer.onApplicationShutdown(),
        gateResponder.onApplicationShutdown(),
        tokenGuard.onApplicationShutdown(),
        fleet.onApplicationShutdown(),
        audit.onApplicationShutdown(),
        after.onApplicationShutdown(),
        detector.onApplicationShutdown(),
        reports.onApplicationShutdown(),
      ]);
      for (const watch of [degraded, degradedClock, quarantine, flaps, standing, collateral])
        watch.onApplicationShutdown();
      await store.close();
    },
  };
}
