import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { completeSettings, MusterError, SETTINGS_KEY, STORE_GENERATION_KEY, type StoreGeneration } from '#contracts';
import { writePrivately } from '#bus/init/private-files.js';
import { nextGeneration } from '#bus/store-copy/next-generation.js';
import { pausedFor } from '#domain/restore/superseded.js';
import { ServiceContext } from '#service';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms, type WantedAlarm } from '../alarms/keep-alarms.js';
import { InventoryStore } from '../store/inventory-store.js';
import { settingsOf } from '../store/settings-of.js';
import {
  decideSeen,
  nothingSeen,
  readSeen,
  writtenSeen,
  type PutBack,
  type SeenStore,
  type StoreNow,
} from './put-back.js';

/**
 * What this inventory remembers of the store outside of it, in a file of its data folder: whether the files of NATS were
 * put back by hand nothing in the store itself can tell.
 */
@Injectable()
export class StoreMemory {
  private readonly file: string;
  private seen: SeenStore;
  /** When this process began to watch, by its monotonic clock, ms, and for how long others had watched by then. */
  private readonly began: { at: number; watchedMs: number };
  /** Why it could not be written. */
  private unwritten: string | undefined;

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
  ) {
    this.file = join(context.config.dataDir, `store-marks=${context.config.instance}.json`);
    this.seen = this.read();
    this.began = { at: context.clock.monotonicMs(), watchedMs: this.seen.marks.at(-1)?.watchedMs ?? 0 };
  }

  /** Pauses fencing and begins a generation where the store is older than it was. */
  async check(buckets: StoreNow['buckets']): Promise<void> {
    const generation = await this.generation();
    if (generation === undefined) return;
    let decided = this.decide({ buckets, generation });
    if (decided.found !== undefined) {
      await this.begin(decided.found, generation);
      decided = this.decide({ buckets, generation: (await this.generation()) ?? generation });
    }
    for (const tail of decided.lost)
      this.context.log.warn(tail, 'the store lacks the last that it had: that was lost with the power');
    if (decided.seen !== this.seen || this.unwritten !== undefined) this.write(decided.seen);
    this.seen = decided.seen;
    if (buckets.get('alarms') !== undefined)
      await keepAlarms(this.alarms, ['store-unwatched'], this.unwatched(), () => undefined, this.isOwn);
  }

  private decide(store: StoreNow): ReturnType<typeof decideSeen> {
    const { clock } = this.context;
    const watchedMs = this.began.watchedMs + Math.floor(clock.monotonicMs() - this.began.at);
    return decideSeen(this.seen, store, { at: clock.wallMs(), watchedMs });
  }

  /** Undefined: it cannot be read, which has an alarm of its own. */
  private async generation(): Promise<number | undefined> {
    const kept = await settingsOf<StoreGeneration>(this.store).bucket.read(STORE_GENERATION_KEY);
    if (kept === undefined) return 0;
    return 'value' in kept ? kept.value.generation : undefined;
  }

  /** The pause first: who ends this half-way finds it all again. */
  private async begin(found: PutBack, generation: number): Promise<void> {
    const copied = new Date(found.at).toISOString();
    const why = `The files of NATS are older than ${copied}`;
    this.context.log.error({ ...found, at: copied }, 'the files of NATS were put back: fencing is paused');
    const { bucket } = this.store.settings;
    const settings = await bucket.read(SETTINGS_KEY);
    // Such as cannot be read let nothing be powered off.
    if (settings === undefined || 'value' in settings)
      await bucket.mutate(SETTINGS_KEY, (s) => {
        if (s === undefined) return undefined;
        const was = completeSettings(s.value);
        return { ...was, fencing: pausedFor(was.fencing, { why }) };
      });
    const wallMs = this.context.clock.wallMs();
    const known = this.seen.stores.map((s) => s.generation);
    await settingsOf<StoreGeneration>(this.store).bucket.mutate(STORE_GENERATION_KEY, (s) => {
      const there = s?.value.generation ?? 0;
      // Another inventory has found it, too.
      if (there !== generation) return undefined;
      // No date of what was seen: that clock may have been wrong.
      const next = nextGeneration({ known: [there, ...known], copied: 0, wallMs });
      return { generation: next, loaded: { copied, at: new Date(wallMs).toISOString(), found: true as const } };
    });
  }

  private readonly isOwn = ({ subject }: { subject: string }): boolean => subject === this.context.config.instance;

  private unwatched(): WantedAlarm[] {
    if (this.unwritten === undefined) return [];
    const message =
      `${this.context.config.instance} cannot write ${this.file} (${this.unwritten}): what it has seen of the store it ` +
      'forgets when it ends. Files of NATS that are put back while it does not run are not found by it.';
    return [{ code: 'store-unwatched', subject: this.context.config.instance, severity: 'warning', message }];
  }

  private write(seen: SeenStore): void {
    try {
      mkdirSync(this.context.config.dataDir, { recursive: true });
      writePrivately(this.file, writtenSeen(this.context.config.cluster, seen));
      this.unwritten = undefined;
    } catch (e) {
      this.unwritten = (e as NodeJS.ErrnoException).code ?? (e as Error).message;
    }
  }

  /** What cannot be read is begun anew. */
  private read(): SeenStore {
    try {
      return existsSync(this.file)
        ? readSeen(this.context.config.cluster, readFileSync(this.file, 'utf8'))
        : nothingSeen;
    } catch (e) {
      const { message: reason } = MusterError.from(e);
      this.context.log.warn({ file: this.file, reason }, 'what was seen of the store is lost, and begun anew');
      return nothingSeen;
    }
  }
}
