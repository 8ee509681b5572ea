import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { ServiceView } from '../nodes/service-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { AgentsView } from './agents-view.js';
import { DiagnosisService } from './diagnosis.service.js';
import { StatusService } from './status.service.js';

@Controller()
export class StatusController {
  constructor(
    private readonly status: StatusService,
    private readonly store: InventoryStore,
    private readonly agents: AgentsView,
    private readonly doctor: DiagnosisService,
    private readonly service: ServiceView,
  ) {}

  @Rpc('inventory.status')
  async get(): Promise<RpcAnswer<'inventory.status'>> {
    await this.service.whenKnown();
    return this.status.status();
  }

  @Rpc('inventory.agents.metrics')
  agentMetrics(q: RpcRequest<'inventory.agents.metrics'>): RpcAnswer<'inventory.agents.metrics'> {
    return this.agents.page(q);
  }

  @Rpc('inventory.diagnosis')
  diagnosis(): Promise<RpcAnswer<'inventory.diagnosis'>> {
    return this.doctor.diagnosis();
  }

  @Rpc('inventory.workers.list')
  async workers(): Promise<RpcAnswer<'inventory.workers.list'>> {
    await this.store.whenLive();
    return { items: this.store.workers.live() };
  }
}
