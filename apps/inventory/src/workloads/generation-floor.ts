import { Injectable } from '@nestjs/common';
import type { KvBucket } from '#bus';
import { InventoryStore } from '../store/inventory-store.js';

/** Key of the floor in bucket `settings`. */
const FLOOR_KEY = 'workload-generations';

interface Floor {
  highest: number;
}

/**
 * The highest generation of any workload that was deleted. Nodes keep the generation of what they last ran, also of a
 * workload that nobody knows any more, and refuse all that is not newer: one that is registered again goes on from here.
 */
@Injectable()
export class GenerationFloor {
  private readonly bucket: KvBucket<Floor>;

  constructor(store: InventoryStore) {
    this.bucket = store.bus.bucket<Floor>('settings');
  }

  /** A live read. */
  async read(): Promise<number> {
    return (await this.bucket.get(FLOOR_KEY))?.value.highest ?? 0;
  }

  /** Before the record goes: a floor that is raised for nothing does no harm, one that is not raised does. */
  async raise(generation: number): Promise<void> {
    await this.bucket.mutate(FLOOR_KEY, (current) =>
      (current?.value.highest ?? 0) >= generation ? undefined : { highest: generation },
    );
  }
}
