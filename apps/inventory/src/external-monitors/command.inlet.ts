import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { validateSync } from 'class-validator';
import {
  eventSubject,
  MusterError,
  refuseHostile,
  Subjects,
  toPublic,
  type CommandAnswer,
  type EventsCommandAnswer,
  type FenceCommandAnswer,
  type PublicEvent,
} from '#contracts';
import { EventsCommand, FenceCommand, OperationRequest } from '#contracts/rpc/requests.js';
import { toRequest } from '#contracts/rpc/to-request.js';
import type { Closable } from '#bus';
import { OperatorOrders } from '../incidents/operator-orders.service.js';
import { OperationsService } from '../operations/operations.service.js';
import { AuditService } from '../store/audit.service.js';
import { InventoryStore } from '../store/inventory-store.js';

const operations = ['commission', 'decommission', 'maintenance', 'discover', 'check'] as const;
type Command = Record<string, unknown>;
type Answer = CommandAnswer | FenceCommandAnswer | EventsCommandAnswer;

/** For reading the past, ms: programs wait some 5 s for an answer. */
const READ_LIMIT_MS = 3_000;
/** Of one answer: NATS takes 8 MB. */
const MOST_BYTES = 4 * 1024 * 1024;

/** `muster.cmd.*`: plain JSON in and out, for tools that speak NATS and nothing of ours. */
@Injectable()
export class CommandInlet implements OnApplicationBootstrap, OnApplicationShutdown {
  private inlets: Closable[] = [];

  constructor(
    private readonly store: InventoryStore,
    private readonly operations: OperationsService,
    private readonly orders: OperatorOrders,
    private readonly audit: AuditService,
  ) {}

  onApplicationBootstrap(): void {
    this.inlets = [
      ...operations.map((kind) => this.open(kind, (q) => this.submit(kind, q))),
      this.open('fence', (q) => this.fence(q)),
      this.open('events', (q) => this.events(q)),
    ];
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.inlets.map((i) => i.close()));
  }

  private open(kind: Parameters<typeof Subjects.command>[0], act: (q: Command) => Promise<Answer>): Closable {
    return this.store.bus.answer<unknown, Answer>(
      Subjects.command(kind),
      (q) => {
        if (typeof q !== 'object' || q === null || Array.isArray(q))
          throw new MusterError('BAD_REQUEST', 'a JSON object is expected');
        refuseHostile(q, 'the request');
        return act(q as Command);
      },
      { queue: 'inventory' },
    );
  }

  private async submit(kind: (typeof operations)[number], q: Command): Promise<CommandAnswer> {
    const { host_group, extra_vars, ...rest } = q;
    const given = {
      ...(host_group !== undefined && { hostGroup: host_group }),
      ...(extra_vars !== undefined && { extraVars: extra_vars }),
      ...rest,
      kind,
    };
    const request = checked(OperationRequest, given);
    const what = [...(request.nodes ?? []), ...(request.addresses ?? [])].join(' ');
    const job = await this.audit.of('nats', kind, request.nodes?.[0] ?? kind, what, () =>
      this.operations.submit({ ...request, by: 'nats' }),
    );
    return { ok: true, job: job.id };
  }

  /** The way of HTTP: every gate is asked, and the order is on record whatever becomes of it. */
  private async fence(q: Command): Promise<FenceCommandAnswer> {
    const { node, reason, dryRun = false } = checked(FenceCommand, q);
    const order = (): ReturnType<OperatorOrders['fence']> =>
      this.orders.fence({ by: 'nats', name: node, reason, dryRun });
    const { gates, incident } = dryRun ? await order() : await this.audit.of('nats', 'fence', node, reason, order);
    return {
      ok: true,
      nodes: [node],
      gates,
      ...(incident && { incident: { id: incident.id, phase: incident.phase } }),
    };
  }

  /** What was told, from the store, for who may ask JetStream for nothing. */
  private async events(q: Command): Promise<EventsCommandAnswer> {
    const { after = 0, kinds = ['verdict', '*'], limit = 100 } = checked(EventsCommand, q);
    const filters = [...new Set(kinds)].map((kind) => eventSubject(kind, '*'));
    const read = await this.store.bus.readOn(filters, { after, count: limit, timeoutMs: READ_LIMIT_MS });
    const events: PublicEvent[] = [];
    let size = 0;
    for (const { subject, value, seq } of read.items) {
      const event = toPublic(subject, value, seq);
      size += Buffer.byteLength(JSON.stringify(event));
      if (size > MOST_BYTES && events.length > 0) break;
      events.push(event);
    }
    const isCut = events.length < read.items.length;
    const last = isCut ? (events.at(-1)?.seq ?? after) : read.last;
    return { ok: true, events, last, more: isCut || read.more, lost: read.isIncomplete };
  }
}

function checked<T extends object>(target: new () => T, given: Command): T {
  const request = toRequest(target, given);
  const [first] = validateSync(request, { whitelist: true, forbidNonWhitelisted: true });
  if (first)
    throw new MusterError('BAD_REQUEST', Object.values(first.constraints ?? {})[0] ?? `${first.property} is wrong`);
  return request;
}
