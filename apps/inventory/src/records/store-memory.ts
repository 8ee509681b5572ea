import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { completeSettings, MusterError, SETTINGS_KEY, STORE_GENERATION_KEY, type StoreGeneration } from '#contracts';
import { writePrivately } from '#bus/init/private-files.js';
import { nextGeneration } from '#bus/store-copy/next-generation.js';
import { pausedFor } from '#domain/restore/superseded.js';
import { ServiceContext } from '#service';
import { InventoryStore } from '../store/inventory-store.js';
import { settingsOf } from '../store/settings-of.js';
import { markOf, putBack, readMarks, withMark, type PutBack, type StoreMark, type StoreNow } from './put-back.js';

/**
 * What this inventory remembers of the store outside of it, in a file of its data folder: whether the files of NATS were
 * put back by hand nothing in the store itself can tell.
 */
@Injectable()
export class StoreMemory {
  private readonly file: string;
  private marks: readonly StoreMark[];
  /** Why they could not be written, as it was logged last. */
  private unwritten: string | undefined;

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
  ) {
    this.file = join(context.config.dataDir, `store-marks=${context.config.instance}.json`);
    this.marks = this.read();
  }

  /** Pauses fencing and begins a generation where the store is older than it was. */
  async look(buckets: StoreNow['buckets']): Promise<void> {
    const now = this.context.clock.wallMs();
    const kept = await settingsOf<StoreGeneration>(this.store).bucket.read(STORE_GENERATION_KEY);
    const store = { buckets, generation: kept !== undefined && 'value' in kept ? kept.value.generation : 0 };
    const found = putBack(this.marks, store);
    if (found !== undefined) await this.begin(found, now);
    const marks = found === undefined ? withMark(this.marks, store, now) : [markOf(store, now)];
    if (marks === this.marks) return;
    this.marks = marks;
    this.write();
  }

  /** The pause first: who ends this half-way finds it all again. */
  private async begin({ bucket, seen, at, ends }: PutBack, now: number): Promise<void> {
    const copied = new Date(at).toISOString();
    const why = `The files of NATS are older than ${copied}`;
    this.context.log.error({ bucket, seen, ends, at: copied }, 'the files of NATS were put back: fencing is paused');
    await this.store.settings.bucket.mutate(SETTINGS_KEY, (s) => {
      if (s === undefined) return undefined;
      const was = completeSettings(s.value);
      return { ...was, fencing: pausedFor(was.fencing, { why }) };
    });
    await settingsOf<StoreGeneration>(this.store).bucket.mutate(
      STORE_GENERATION_KEY,
      (s) => {
        // Another inventory has found it, too.
        if (s?.value.loaded !== undefined) return undefined;
        const generation = nextGeneration({ known: [s?.value.generation ?? 0], copied: at, wallMs: now });
        return { generation, loaded: { copied, at: new Date(now).toISOString(), found: true as const } };
      },
      { overUnreadable: true },
    );
  }

  /** Where it cannot be written this process remembers all the same. */
  private write(): void {
    try {
      mkdirSync(this.context.config.dataDir, { recursive: true });
      writePrivately(this.file, JSON.stringify(this.marks));
      this.unwritten = undefined;
    } catch (e) {
      const reason = (e as Error).message;
      if (this.unwritten !== reason)
        this.context.log.info(
          { file: this.file, reason },
          'what was seen of the store is kept as long as this process runs',
        );
      this.unwritten = reason;
    }
  }

  /** What cannot be read is begun anew. */
  private read(): readonly StoreMark[] {
    if (!existsSync(this.file)) return [];
    try {
      return readMarks(readFileSync(this.file, 'utf8'));
    } catch (e) {
      this.context.log.warn(
        { file: this.file, reason: MusterError.from(e).message },
        'what was seen of the store is lost',
      );
      return [];
    }
  }
}
