import { Controller, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Subjects, type By, type CommandAnswer, type RpcAnswer, type RpcRequest } from '#contracts';
import type { Closable } from '#bus';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { ExternalMonitorsService } from './external-monitors.service.js';

/** Two ways in for the same word: the RPC of the HTTP surface, and plain NATS subjects for tools. */
@Controller()
export class ExternalMonitorsController implements OnApplicationBootstrap, OnApplicationShutdown {
  private inlets: Closable[] = [];

  constructor(
    private readonly monitor: ExternalMonitorsService,
    private readonly audit: AuditService,
    private readonly store: InventoryStore,
  ) {}

  @Rpc('inventory.monitor.event')
  event(q: RpcRequest<'inventory.monitor.event'>): Promise<RpcAnswer<'inventory.monitor.event'>> {
    return this.take(q, q.event, q.nodes);
  }

  onApplicationBootstrap(): void {
    this.inlets = (['discovered', 'disappeared'] as const).map((name) =>
      this.store.bus.answerText<CommandAnswer>(
        Subjects.monitor(name),
        async (text) => ({ ok: true, ...(await this.take({ by: 'nats' }, name, nodesOf(text))) }),
        { queue: 'inventory' },
      ),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.inlets.map((i) => i.close()));
  }

  private take(who: By, event: unknown, nodes: unknown): Promise<{ nodes: string[] }> {
    const count = Array.isArray(nodes) ? nodes.length : 0;
    return this.audit.of(
      who,
      'monitor-event',
      'monitor',
      `${typeof event === 'string' ? event : '?'}: ${count} node(s)`,
      () => this.monitor.event(who.by, event, nodes),
    );
  }
}

/** Undefined for anything that holds no list: refused, and on record, like every other wrong event. */
function nodesOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { nodes?: unknown } | null)?.nodes;
  } catch {
    return undefined;
  }
}
