import { Injectable } from '@nestjs/common';
import {
  MusterError,
  inPlaceOf,
  isOpenIncident,
  type IncidentRecord,
  type PowerOrder,
  type WithRevision,
} from '#contracts';
import { isOrderPending } from '#domain/incident/pending-order.js';
import { note } from '#domain/incident/steps.js';
import { AfterAnswer } from '../store/after-answer.js';
import { AuditService } from '../store/audit.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { supersededBy } from '#domain/power/power-order.js';

/** The one way in which an incident's value is written by inventory: compare-and-set on what was decided on. */
@Injectable()
export class IncidentService {
  constructor(
    private readonly store: InventoryStore,
    private readonly audit: AuditService,
    private readonly after: AfterAnswer,
  ) {}

  /** A live read. @throws MusterError INCIDENT_UNKNOWN */
  async get(node: string): Promise<WithRevision<IncidentRecord>> {
    const entry = await this.store.incidents.bucket.get(node);
    if (entry === undefined) throw unknownIncident(node);
    return { ...entry.value, revision: entry.revision };
  }

  /**
   * The node's open incident, or this new one: whoever comes second joins the first. An order that was still to be
   * carried out goes with the record that this one replaces, and its end is told: in the steps, and in the audit.
   * @param o `check`: called right before the write; throws where the right to write is gone. `keeps`: a record that is
   *   over is left alone all the same, and answered as joined. `joins`: what becomes of an open one that is joined;
   *   undefined: it is left alone
   */
  async openOrJoin(
    record: IncidentRecord,
    o: {
      check?: () => void;
      keeps?: (over: IncidentRecord) => boolean;
      joins?: (open: IncidentRecord) => IncidentRecord | undefined;
    } = {},
  ): Promise<{ incident: WithRevision<IncidentRecord>; joined: boolean }> {
    let order: PowerOrder | undefined;
    const done = await this.store.incidents.bucket.mutate(record.node, (current) => {
      order = undefined;
      if (current !== undefined && isOpenIncident(current.value)) return o.joins?.(current.value);
      if (current !== undefined && o.keeps?.(current.value) === true) return undefined;
      o.check?.();
      order = current && isOrderPending(current.value) ? current.value.order : undefined;
      const next = inPlaceOf(record, current?.value);
      return order === undefined ? next : note(next, supersededBy(order, record), record.openedAt);
    });
    if (done.value === undefined) throw new MusterError('INTERNAL', `the incident of ${record.node} vanished`);
    const joined = done.value.id !== record.id;
    if (order !== undefined && !joined) {
      const [action, detail] = [`power-${order.action}-superseded`, supersededBy(order, record)];
      this.after.run(`audit of ${action}`, () => this.audit.done(record.by ?? 'muster', action, record.node, detail));
    }
    return { incident: { ...done.value, revision: done.revision }, joined };
  }

  /**
   * `fn` gets the incident as it is now and returns the new one, or undefined to leave it alone. Undefined as the
   * answer: the incident has been replaced or `fn` left it alone.
   */
  async change(
    node: string,
    id: string,
    fn: (i: IncidentRecord, revision: number) => IncidentRecord | undefined,
  ): Promise<WithRevision<IncidentRecord> | undefined> {
    const done = await this.store.incidents.bucket.mutate(node, (current) =>
      current === undefined || current.value.id !== id ? undefined : fn(current.value, current.revision),
    );
    return done.changed && done.value !== undefined ? { ...done.value, revision: done.revision } : undefined;
  }

  /** As last seen by this process, by node. */
  list(open?: boolean): WithRevision<IncidentRecord>[] {
    return this.store.incidents.view
      .entries()
      .map((e) => ({ ...e.value, revision: e.revision }))
      .filter((i) => open === undefined || isOpenIncident(i) === open)
      .sort((a, b) => (a.node < b.node ? -1 : 1));
  }
}

export const unknownIncident = (node: string): MusterError =>
  new MusterError('INCIDENT_UNKNOWN', `node ${node} has no incident`, { node });
