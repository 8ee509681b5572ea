import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { VerdictKinds, type Verdict } from '#contracts';
import type { Closable } from '#bus';
import { InventoryStore } from '../store/inventory-store.js';
import { VerdictService } from './verdict.service.js';

/** One durable consumer for all replicas: each verdict is taken by one of them, at least once. */
@Injectable()
export class VerdictConsumer implements OnApplicationBootstrap, OnApplicationShutdown {
  private consumer: Closable | undefined;

  constructor(
    private readonly store: InventoryStore,
    private readonly verdicts: VerdictService,
  ) {}

  onApplicationBootstrap(): void {
    this.consumer = this.store.bus.consume('inventory-verdicts', ['muster.verdict.>'], async (subject, value) => {
      if (isVerdict(value)) await this.verdicts.apply(value);
      else this.store.bus.log.warn({ subject }, 'a verdict that is none was dropped');
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.consumer?.close();
  }
}

export function isVerdict(x: unknown): x is Verdict {
  const v = x as Partial<Verdict> | null;
  return (
    typeof v === 'object' &&
    v !== null &&
    typeof v.node === 'string' &&
    VerdictKinds.some((k) => k === v.verdict) &&
    Number.isSafeInteger(v.epoch) &&
    Number.isSafeInteger(v.seq) &&
    Array.isArray(v.networks)
  );
}
