import { Controller } from '@nestjs/common';
import type { RpcAnswer } from '#contracts';
import { Rpc } from '#service';
import { InventoryStore } from '../store/inventory-store.js';
import { StatusService } from './status.service.js';

@Controller()
export class StatusController {
  constructor(
    private readonly status: StatusService,
    private readonly store: InventoryStore,
  ) {}

  @Rpc('inventory.status')
  get(): RpcAnswer<'inventory.status'> {
    return this.status.status();
  }

  @Rpc('inventory.workers.list')
  workers(): RpcAnswer<'inventory.workers.list'> {
    return { items: this.store.workers.live() };
  }
}
