import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { MusterError, OperationRequest, Subjects, type CommandAnswer } from '#contracts';
import type { Closable } from '#bus';
import { OperatorOrders } from '../incidents/operator-orders.service.js';
import { OperationsService } from '../operations/operations.service.js';
import { AuditService } from '../store/audit.service.js';
import { InventoryStore } from '../store/inventory-store.js';

const operations = ['commission', 'decommission', 'maintenance', 'discover', 'check'] as const;
type Command = Record<string, unknown>;

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
    ];
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.inlets.map((i) => i.close()));
  }

  private open(kind: Parameters<typeof Subjects.command>[0], act: (q: Command) => Promise<CommandAnswer>): Closable {
    return this.store.bus.answer<unknown, CommandAnswer>(
      Subjects.command(kind),
      (q) => {
        if (typeof q !== 'object' || q === null || Array.isArray(q))
          throw new MusterError('BAD_REQUEST', 'a JSON object is expected');
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
    const request = plainToInstance(OperationRequest, given);
    const wrong = validateSync(request, { whitelist: true, forbidNonWhitelisted: true });
    const first = wrong[0];
    if (first)
      throw new MusterError('BAD_REQUEST', Object.values(first.constraints ?? {})[0] ?? `${first.property} is wrong`);
    const what = [...(request.nodes ?? []), ...(request.addresses ?? [])].join(' ');
    const job = await this.audit.of('nats', kind, request.nodes?.[0] ?? kind, what, () =>
      this.operations.submit({ ...request, by: 'nats' }),
    );
    return { ok: true, job: job.id };
  }

  private async fence(q: Command): Promise<CommandAnswer> {
    const { node, reason } = q;
    if (typeof node !== 'string' || typeof reason !== 'string' || reason === '')
      throw new MusterError('BAD_REQUEST', 'fence needs "node" and "reason"');
    const dryRun = q['dryRun'] === true;
    await this.orders.fence({ by: 'nats', name: node, reason, dryRun });
    return { ok: true, nodes: [node] };
  }
}
