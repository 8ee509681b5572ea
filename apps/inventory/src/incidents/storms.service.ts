import { Injectable } from '@nestjs/common';
import {
  MusterError,
  isOpenIncident,
  type GateCode,
  type IncidentRecord,
  type RpcAnswer,
  type RpcRequest,
  type StormOutcome,
  type StormTrip,
  type StormView,
} from '#contracts';
import { isBeforeFencing, mayGo } from '#domain/incident/phases.js';
import { go, note } from '#domain/incident/steps.js';
import { AuditService, auditReason } from '../store/audit.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { GateFactsService } from './gate-facts.js';
import { IncidentService } from './incident.service.js';
import { OperatorOrders } from './operator-orders.service.js';
import { PermitService } from './permit.service.js';

/** Gates that ask how many others are unhealthy: a release of a storm is past all of them. */
const ofStorm: readonly GateCode[] = ['BRAKE', 'DOMAIN', 'CAP'];

/** Storms as an operator sees and judges them: all members at once, or those that are named. */
@Injectable()
export class StormsService {
  constructor(
    private readonly store: InventoryStore,
    private readonly facts: GateFactsService,
    private readonly permits: PermitService,
    private readonly incidents: IncidentService,
    private readonly orders: OperatorOrders,
    private readonly audit: AuditService,
  ) {}

  list(): StormView[] {
    return this.facts.storms();
  }

  /** @throws MusterError NOT_FOUND */
  get(id: string): StormView {
    const storm = this.list().find((s) => s.id === id);
    if (storm === undefined) throw new MusterError('NOT_FOUND', `no storm ${id} stands`, { storm: id });
    return storm;
  }

  /** Those that hold a node. */
  holding(node: string): StormView[] {
    return this.list().filter((s) => s.members.includes(node) && !s.released.includes(node));
  }

  /** They are dead, says who has looked: judged as if there were no storm, and no brake. */
  async release(q: RpcRequest<'inventory.storms.release'>): Promise<RpcAnswer<'inventory.storms.release'>> {
    const nodes = this.chosen(q.id, q.nodes);
    const at = this.store.clock.wallMs();
    await this.permits.changeTrips((trips) => trips.map((t) => (t.id === q.id ? withReleased(t, nodes, q, at) : t)));
    const outcomes: StormOutcome[] = [];
    for (const node of nodes) outcomes.push(await this.releaseOne(node, q, at));
    return { nodes: outcomes };
  }

  /** "I verified that they are down", for each as for one incident; a node that still shows life is refused alone. */
  async confirm(q: RpcRequest<'inventory.storms.confirm'>): Promise<RpcAnswer<'inventory.storms.confirm'>> {
    const outcomes: StormOutcome[] = [];
    for (const node of this.chosen(q.id, q.nodes)) {
      const order = { by: q.by, node, reason: q.reason, ...(q.force === true && { force: true }) };
      try {
        await this.audit.of(q, 'confirm', node, auditReason(q), () => this.orders.confirm(order));
        outcomes.push({ node, ok: true });
      } catch (e) {
        const { code, message } = MusterError.from(e);
        outcomes.push({ node, ok: false, detail: `${code}: ${message}` });
      }
    }
    return { nodes: outcomes };
  }

  /**
   * By default the rest: who has returned is guarded on.
   * @throws MusterError NOT_FOUND, BAD_REQUEST; BUS_UNAVAILABLE through a gap
   */
  private chosen(id: string, named: string[] | undefined): string[] {
    const storm = this.get(id);
    if (!this.facts.knowsStorms)
      throw new MusterError(
        'BUS_UNAVAILABLE',
        `the view of the records has a gap: who of storm ${id} is back is not known; ask again in a few seconds`,
        { storm: id },
      );
    const strangers = (named ?? []).filter((node) => !storm.members.includes(node));
    if (strangers.length > 0)
      throw new MusterError('BAD_REQUEST', `not of storm ${id}: ${strangers.join(', ')}`, {
        storm: id,
        nodes: strangers,
      });
    return named ?? storm.rest;
  }

  private async releaseOne(node: string, q: RpcRequest<'inventory.storms.release'>, at: number): Promise<StormOutcome> {
    const i = this.store.incidents.view.get(node)?.value;
    const none = { node, ok: true, detail: 'It has no open incident: it is judged as if there were no storm.' };
    if (i === undefined || !isOpenIncident(i)) return none;
    const done = await this.incidents.change(node, i.id, (now) => letGo(now, q, at));
    return done === undefined
      ? { node, ok: false, detail: `Its incident is past its gates, or over.` }
      : { node, ok: true };
  }
}

function withReleased(
  t: StormTrip,
  nodes: readonly string[],
  q: { by: string; reason: string },
  at: number,
): StormTrip {
  const released = { by: q.by, reason: q.reason, at };
  const members = Object.entries(t.members).map(([n, m]) => [n, nodes.includes(n) ? { ...m, released } : m] as const);
  return { ...t, members: Object.fromEntries(members) };
}

/** Past the gates of storms and no others: what shows life stays held. */
function letGo(
  i: IncidentRecord,
  q: { id: string; by: string; reason: string },
  at: number,
): IncidentRecord | undefined {
  if (!isBeforeFencing(i)) return undefined;
  const gates = [...new Set([...(i.released?.gates ?? []), ...ofStorm])];
  const text = `${q.by} released storm ${q.id}: ${q.reason}`;
  const stoppedByStorm = i.phase === 'suppressed' && i.gate !== undefined && ofStorm.includes(i.gate);
  const next = stoppedByStorm && mayGo(i, 'investigating') ? go(i, 'investigating', text, at) : note(i, text, at);
  return { ...next, released: { by: q.by, reason: q.reason, at, gates, force: i.released?.force === true } };
}
