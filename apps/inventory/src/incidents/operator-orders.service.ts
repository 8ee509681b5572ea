import { Injectable } from '@nestjs/common';
import {
  MusterError,
  isOpenIncident,
  type GateCode,
  type IncidentRecord,
  type NodeRecord,
  type PowerOrder,
  type RpcAnswer,
  type RpcRequest,
  type WithRevision,
} from '#contracts';
import { orderedToo, type OrderToFence } from '../plan/incidents/ordered-too.js';
import { gateToRelease, released } from '../plan/incidents/released.js';
import { cancelByOperator } from '../plan/incidents/operator-cancel.js';
import { unknownNode } from '../nodes/node.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { confirmedDown } from './confirmed-down.js';
import { drillGates } from './drill-order.js';
import { GateFactsService } from './gate-facts.js';
import { askGates, gateTable, lifeSign, showsLife, type GateFacts } from '#domain/incident/gates.js';
import { unfenceable } from '#domain/node/to-be-fenced.js';
import { IncidentService, unknownIncident } from './incident.service.js';
import { newIncident } from '../plan/incidents/new-incident.js';
import { PowerEvidence } from './power-evidence.js';
import { doNotPowerOnBefore } from '#domain/power/quarantine.js';
import { VerdictNow } from '../verdicts/verdict-now.js';

/** What an operator may order: fence a node, release what a gate stopped, confirm that a node is down. */
@Injectable()
export class OperatorOrders {
  constructor(
    private readonly store: InventoryStore,
    private readonly incidents: IncidentService,
    private readonly facts: GateFactsService,
    private readonly verdictNow: VerdictNow,
    private readonly power: PowerEvidence,
  ) {}

  /**
   * The same way as after a verdict: all gates, one incident. An open one is joined, and is an order by hand from then
   * on. What stops at a gate is shown there and can be released.
   * @param o `cycle`, `drill`: switched on again when its recovery is through; `drill.level`: the level to begin with, from 0
   */
  async fence(
    q: RpcRequest<'inventory.nodes.fence'>,
    o: { cycle?: boolean; drill?: { level: number } } = {},
  ): Promise<RpcAnswer<'inventory.nodes.fence'>> {
    const node = await this.node(q.name);
    const verdict = await this.verdictNow.of(node.name);
    const facts = await this.facts.gather(node, verdict, { cause: 'manual' });
    const gates = askGates(facts);
    if (q.dryRun === true) {
      const open = await this.openIncident(node.name);
      return { gates, ...(open !== undefined && { incident: open }) };
    }
    const record = newIncident({
      id: this.store.random.uuid(),
      node,
      cause: 'manual',
      by: q.by,
      reason: q.reason,
      verdict,
      gates,
      conductor: 0,
      story: this.power.story(node.name),
      at: this.store.clock.wallMs(),
    });
    record.wantedAt = verdict?.verdict ?? 'UNKNOWN';
    if (o.drill !== undefined) {
      record.drill = { at: record.openedAt, ...(o.drill.level > 0 && { level: o.drill.level }) };
      const gates = drillGates(node.cordon !== undefined);
      record.released = { by: q.by, reason: q.reason, at: record.openedAt, gates, force: true };
    }
    if (o.cycle === true || o.drill !== undefined) record.order = cycled(record, node);
    const order: OrderToFence = { by: q.by, reason: q.reason, at: record.openedAt, wantedAt: record.wantedAt };
    if (record.order !== undefined) order.thenOn = record.order;
    const joins = (open: IncidentRecord): IncidentRecord => orderedToo(open, order);
    // A drill that finds another incident is refused, and changes nothing.
    const { incident } = await this.incidents.openOrJoin(record, o.drill === undefined ? { joins } : {});
    return { incident, gates };
  }

  /** Past the gate that stopped it and no other; the others are asked again. */
  async release(q: RpcRequest<'inventory.incidents.release'>): Promise<WithRevision<IncidentRecord>> {
    const node = await this.node(q.node);
    const lacks = { otherFencers: this.facts.fencersOutside(node), sharedPlace: this.facts.sharedPlace(node) };
    const seen = await this.incidents.get(q.node);
    const wantedAt = (await this.verdictNow.of(q.node))?.verdict ?? 'UNKNOWN';
    return this.change(seen, (now) => {
      const gate = gateToRelease(now, q.gate);
      refuseRelease(gate, node, lacks, q.force === true);
      const { by, reason, force = false } = q;
      return released(now, { ...{ by, reason, gate, force, wantedAt }, at: this.store.clock.wallMs() });
    });
  }

  /**
   * Cancelled until the first command was given: written into the same key, so that a command that was decided on
   * before fails its compare-and-set.
   */
  async cancel(q: RpcRequest<'inventory.incidents.cancel'>): Promise<WithRevision<IncidentRecord>> {
    const seen = await this.incidents.get(q.node);
    const now = (await this.verdictNow.of(q.node))?.verdict;
    const order = { by: q.by, reason: q.reason, at: this.store.clock.wallMs(), now };
    return this.change(seen, (i) => cancelByOperator(i, order));
  }

  /**
   * "I verified that it is down": the proof that stands where no power device can give one. Orders that are still
   * under way are void from this write on, and yet may be carried out until the power quarantine is over.
   */
  async confirm(q: RpcRequest<'inventory.incidents.confirm'>): Promise<RpcAnswer<'inventory.incidents.confirm'>> {
    const node = await this.node(q.node);
    const seen = await this.incidents.get(q.node);
    if (q.force !== true) await this.refuseWhileAlive(node, seen);
    const incident = await this.change(seen, (now) =>
      confirmedDown(now, { by: q.by, reason: q.reason, at: this.store.clock.wallMs() }),
    );
    const before = doNotPowerOnBefore(incident);
    return { ...incident, ...(before !== undefined && { doNotPowerOnBefore: before }) };
  }

  /**
   * The incident that the person's order is about, changed by it. Another one is none that the person has seen: to
   * answer with it would say that it was released, cancelled or confirmed.
   * @param fn changes it, by a step at least, or throws
   * @throws MusterError INCIDENT_STATE where another one has taken its place, INCIDENT_UNKNOWN where none has
   */
  private async change(
    { node, id }: IncidentRecord,
    fn: (now: IncidentRecord) => IncidentRecord,
  ): Promise<WithRevision<IncidentRecord>> {
    const done = await this.incidents.change(node, id, fn);
    if (done !== undefined) return done;
    const { phase } = await this.incidents.get(node);
    throw new MusterError(
      'INCIDENT_STATE',
      `Another incident of ${node} was opened meanwhile: look again with muster incident get ${node}.`,
      { node, phase },
    );
  }

  private async refuseWhileAlive(node: NodeRecord, incident: IncidentRecord): Promise<void> {
    const verdict = await this.verdictNow.of(node.name);
    const facts = await this.facts.gather(node, verdict, { cause: 'manual', incident });
    const sign = lifeSign(facts);
    if (!showsLife(sign)) return;
    throw new MusterError(
      'STILL_ALIVE',
      `${node.name} shows that it lives: ${sign.detail} Confirm with force only if you stand before it and it is off.`,
      { node: node.name, sign: sign.kind, verdict: verdict?.verdict },
    );
  }

  private async node(name: string): Promise<NodeRecord> {
    const entry = await this.store.nodes.bucket.get(name);
    if (entry === undefined) throw unknownNode(name);
    return entry.value;
  }

  private async openIncident(node: string): Promise<WithRevision<IncidentRecord> | undefined> {
    try {
      const i = await this.incidents.get(node);
      return isOpenIncident(i) ? i : undefined;
    } catch (e) {
      if (MusterError.from(e).code === unknownIncident(node).code) return undefined;
      throw e;
    }
  }
}

/** The second half of a cycle. */
const cycled = (i: IncidentRecord, node: NodeRecord): PowerOrder => ({
  action: 'on',
  by: i.by ?? '',
  reason: i.reason,
  at: i.openedAt,
  after: 0,
  ...(node.bootId !== undefined && { bootId: node.bootId }),
});

/** @throws MusterError FENCING_REFUSED where this gate cannot be released, or not without force */
export function refuseRelease(
  gate: GateCode,
  node: NodeRecord,
  lacks: Pick<GateFacts, 'otherFencers' | 'sharedPlace'>,
  force: boolean,
): void {
  const refuse = (text: string): never => {
    throw new MusterError('FENCING_REFUSED', text, { node: node.name, gate });
  };
  if (gate === 'PAUSED') refuse('Fencing is paused: end the pause instead.');
  if (gate === 'OBSERVE') refuse('The mode is observe: set it to enforce instead.');
  if (gateTable[gate].release === 'never') refuse(`Gate ${gate} cannot be released.`);
  const hard = gate === 'NOT_FENCEABLE' ? unfenceable({ node, ...lacks }) : undefined;
  if (hard !== undefined) refuse(`${hard} Verify that ${node.name} is down and confirm it instead.`);
  if (gateTable[gate].release === 'force' && !force)
    refuse(
      `Gate ${gate} says that ${node.name} may be alive: release it with force if it is to be powered off all the same.`,
    );
}
