import type { Logger } from 'pino';
import type { Bus } from '#bus';
import type { ClusterSettings } from '#contracts';
import { ServiceContext } from '#service';
import { ClaimsService } from '../../../apps/inventory/src/claims/claims.service.js';
import { ConductorService } from '../../../apps/inventory/src/conductor/conductor.service.js';
import type { Task } from '../../../apps/inventory/src/conductor/task.js';
import { IncidentsController } from '../../../apps/inventory/src/incidents/incidents.controller.js';
import { PowerOrders } from '../../../apps/inventory/src/incidents/power-orders.service.js';
import { StormsService } from '../../../apps/inventory/src/incidents/storms.service.js';
import { JobsService } from '../../../apps/inventory/src/jobs/jobs.service.js';
import { DeletionsService } from '../../../apps/inventory/src/node-requests/deletions.service.js';
import { NodesService } from '../../../apps/inventory/src/node-requests/nodes.service.js';
import { ReplacementService } from '../../../apps/inventory/src/node-requests/replacement.service.js';
import { CommandInlet } from '../../../apps/inventory/src/external-monitors/command.inlet.js';
import { VerdictConsumer } from '../../../apps/inventory/src/node-state/verdict.consumer.js';
import { OperationsController } from '../../../apps/inventory/src/operations/operations.controller.js';
import { PlanService } from '../../../apps/inventory/src/plan-view/plan.service.js';
import { DrainController } from '../../../apps/inventory/src/workloads/drain.controller.js';
import { GateResponder } from '../../../apps/inventory/src/workloads/gate.responder.js';
import { WorkloadsController } from '../../../apps/inventory/src/workloads/workloads.controller.js';
import { SettingsService } from '../../../apps/inventory/src/settings/settings.service.js';
import { InventoryStore } from '../../../apps/inventory/src/store/inventory-store.js';
import { KnownNames } from '../../../apps/inventory/src/store/known-names.js';
import { tasksBy } from '../../../apps/inventory/src/tasks.js';
import { answerRpcs, type RpcHandlers } from '../nats/answer-rpc.js';
import { Composition } from '../process/composition.js';
import { playedConfig } from '../process/played-config.js';
import type { Running } from '../process/sim-process.js';

/** Of a host that is no node of the fleet. */
const CONTROL_ADDRESS = '192.0.2.250';

export interface InventoryProgramParts {
  bus: Bus;
  instance: string;
  /** Hosts of the servers of the bus. */
  brokers: readonly string[];
  /** Of a new installation. */
  initial: Partial<ClusterSettings>;
  /** What the conductor runs in the place of each of its tasks. @default the task */
  run?: ((task: Task) => Task) | undefined;
}

/**
 * Inventory as a process on one life's bus: the conductor with all of its tasks, and what asks and answers beside it. Left
 * out is what no task needs and no verdict leads to: enrolment of agents, files of nodes, webhooks, tokens, pages of status.
 */
export async function startInventory({
  bus,
  instance,
  brokers,
  initial,
  run = (task) => task,
}: InventoryProgramParts): Promise<Running> {
  const nats = { servers: brokers.map((host) => `nats://${host}:4222`) };
  const config = playedConfig({ cluster: 'sim', instance, initial, nats });
  // What services ask of their log is what the bus has; nothing here asks for pino's own.
  const context = new ServiceContext(config, bus, bus.log as unknown as Logger, 'inventory');
  const store = await InventoryStore.open(bus, { cluster: 'sim', replicas: 1 });
  const names = new KnownNames(context, { addressesOf: () => Promise.resolve([CONTROL_ADDRESS]) });
  const parts = new Composition([context, store, names]);
  const conductor = parts.get(ConductorService);
  for (const task of tasksBy((by) => parts.get(by))) conductor.add(run(task));
  for (const inlet of [VerdictConsumer, GateResponder, CommandInlet]) parts.get<object>(inlet);
  const incidents = parts.get(IncidentsController);
  const storms = parts.get(StormsService);
  const power = parts.get(PowerOrders);
  const workloads = parts.get(WorkloadsController);
  const operations = parts.get(OperationsController);
  const jobs = parts.get(JobsService);
  const claims = parts.get(ClaimsService);
  const nodes = parts.get(NodesService);
  const drain = parts.get(DrainController);
  const deletions = parts.get(DeletionsService);
  const replacements = parts.get(ReplacementService);
  const plans = parts.get(PlanService);
  const handlers: RpcHandlers = {
    'inventory.incidents.recheck': (q) => incidents.recheck(q),
    'inventory.incidents.release': (q) => incidents.release(q),
    'inventory.incidents.confirm': (q) => incidents.confirm(q),
    'inventory.incidents.cancel': (q) => incidents.cancel(q),
    'inventory.nodes.fence': (q) => incidents.fence(q),
    'inventory.nodes.power': (q) => power.act(q),
    'inventory.nodes.drill': (q) => power.drill(q),
    'inventory.fencing.put': (q) => incidents.putFencing(q),
    'inventory.storms.list': () => ({ items: storms.list() }),
    'inventory.storms.release': (q) => storms.release(q),
    'inventory.storms.confirm': (q) => storms.confirm(q),
    'inventory.workloads.put': (q) => workloads.put(q),
    'inventory.workloads.mayStart': (q) => workloads.mayStart(q),
    'inventory.operations.submit': (q) => operations.submit(q),
    'inventory.plan': (q) => plans.plan(q),
    'inventory.jobs.cancel': (q) => jobs.cancel(q.id, q.by),
    'inventory.claims.create': (q) => claims.create(q),
    'inventory.claims.delete': async (q) => {
      await claims.delete(q.id);
      return {};
    },
    'inventory.nodes.cordon': (q) => nodes.cordon(q.name, q.by, q.reason, q.until),
    'inventory.nodes.uncordon': (q) => nodes.uncordon(q.name),
    'inventory.nodes.patch': (q) => nodes.patch(q.name, q.patch, q.revision),
    'inventory.nodes.replace': (q) => replacements.replace(q.name, q.replacement, q.by, q.revision),
    'inventory.nodes.drain': (q) => drain.drain(q),
    'inventory.nodes.delete': async (q) => {
      await deletions.delete(q.name, q.by, q.revision);
      return {};
    },
  };

  await parts.get(SettingsService).writeInitial();
  await parts.init();
  const answers = answerRpcs(bus, 'inventory', handlers);
  await parts.bootstrap();
  await bus.flushed();
  return {
    stop: async () => {
      await answers.close();
      await parts.shutdown();
      await store.close();
    },
  };
}
