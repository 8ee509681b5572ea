import { Injectable } from '@nestjs/common';
import {
  isOpenIncident,
  MusterError,
  phaseText,
  RESERVATIONS_KEY,
  type IncidentRecord,
  type NodeRecord,
  type RpcAnswer,
  type RpcRequest,
} from '#contracts';
import { unknownNode } from '../nodes/node.service.js';
import { PowerQuarantine } from '../power/power-quarantine.js';
import { assignedNow } from '../store/assigned-now.js';
import { InventoryStore } from '../store/inventory-store.js';
import { refusedDrill } from './drill-order.js';
import { GateFactsService } from './gate-facts.js';
import { stoppingGate } from '#domain/incident/gates.js';
import { OperatorOrders } from './operator-orders.service.js';
import { refusedPower, withOrder, type PowerAction, type PowerFacts } from '#domain/power/power-order.js';

type Request = RpcRequest<'inventory.nodes.power'>;
type Answer = RpcAnswer<'inventory.nodes.power'>;

const THEN_ON = ' When what ran there is recovered it is switched on.';

/** Power by hand: off is a fencing like any other; on and soft are written down for the fencing leader. */
@Injectable()
export class PowerOrders {
  constructor(
    private readonly store: InventoryStore,
    private readonly orders: OperatorOrders,
    private readonly facts: GateFactsService,
    private readonly quarantine: PowerQuarantine,
  ) {}

  /** @throws MusterError with the first thing that stands against it; then nothing has changed */
  async act(q: Request): Promise<Answer> {
    if (q.action === 'on' || q.action === 'soft') return this.order(q, q.action);
    const node = await this.node(q.name);
    const incident = (await this.store.incidents.bucket.get(q.name))?.value;
    await this.refuse(q.action, node, incident);
    return this.fence(q, q.action, incident !== undefined && isOpenIncident(incident));
  }

  /** @throws MusterError with the first thing that stands against it; then nothing has changed */
  async drill(q: RpcRequest<'inventory.nodes.drill'>): Promise<RpcAnswer<'inventory.nodes.drill'>> {
    const node = await this.node(q.name);
    const incident = (await this.store.incidents.bucket.get(q.name))?.value;
    const level = (q.level ?? 1) - 1;
    const refused = refusedDrill(await this.powerFacts(node, incident, true), level);
    if (refused !== undefined) throw refused;
    const order = { by: q.by, name: q.name, reason: `Drill: ${q.reason}` };
    const opened = (await this.orders.fence(order, { drill: { level } })).incident;
    if (opened?.drill !== undefined) return opened;
    throw new MusterError('INCIDENT_STATE', `Another incident of ${q.name} was opened meanwhile.`, { node: q.name });
  }

  private async fence(q: Request, action: 'off' | 'cycle', joins: boolean): Promise<Answer> {
    const order = { by: q.by, name: q.name, reason: q.reason };
    const { incident, gates } = await this.orders.fence(order, { cycle: action === 'cycle' });
    const stopped = stoppingGate(gates);
    const detail = joins
      ? `It joins the incident, which is ${incident === undefined ? 'over' : phaseText(incident)}.`
      : stopped === undefined
        ? `It is powered off, and that is read back.${action === 'cycle' ? THEN_ON : ''}`
        : `Gate ${stopped.gate} stops it: ${stopped.detail} Release the incident if it is to be powered off all the same.`;
    return { node: q.name, action, incident: incident?.id ?? '', detail };
  }

  private async order(q: Request, action: 'on' | 'soft'): Promise<Answer> {
    const id = this.store.random.uuid();
    const done = await this.store.incidents.bucket.mutate(q.name, async (current) => {
      // By the node as of this write: an edit or a deletion may have come between two tries.
      const node = await this.node(q.name);
      await this.refuse(action, node, current?.value);
      return withOrder(current?.value, { id, node, action, by: q.by, reason: q.reason, at: this.store.clock.wallMs() });
    });
    const detail =
      action === 'on'
        ? 'It is switched on unless it reads as on, and read back.'
        : 'Its system is asked to shut down; whether it does is seen by reading its power.';
    return { node: q.name, action, incident: done.value?.id ?? id, detail };
  }

  /** Live reads where a moment may decide. */
  private async refuse(action: PowerAction, node: NodeRecord, incident: IncidentRecord | undefined): Promise<void> {
    const refused = refusedPower(action, await this.powerFacts(node, incident, action === 'soft'));
    if (refused !== undefined) throw refused;
  }

  private async node(name: string): Promise<NodeRecord> {
    const entry = await this.store.nodes.bucket.get(name);
    if (entry === undefined) throw unknownNode(name);
    return entry.value;
  }

  /** @param ofWork what runs there stands against it: a power-off must not fail where that cannot be read */
  private async powerFacts(
    node: NodeRecord,
    incident: IncidentRecord | undefined,
    ofWork: boolean,
  ): Promise<PowerFacts> {
    const held = (await this.store.reservations.bucket.get(RESERVATIONS_KEY))?.value.held;
    return {
      node,
      fencing: this.store.clusterSettings.fencing,
      hold: held?.[node.name],
      incident,
      // The view may not show an off that the record has.
      quarantined: incident === undefined ? this.quarantine.reason(node.name) : this.quarantine.reasonOf(incident),
      workloads: ofWork ? await assignedNow(this.store.workloads, node.name) : [],
      fencers: this.facts.fencersOutside(node),
      wallNow: this.store.clock.wallMs(),
    };
  }
}
