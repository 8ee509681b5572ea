import { hostname } from 'node:os';
import {
  MusterError,
  READS,
  WORKER_BEAT_MS,
  WORKER_DEAD_MS,
  workerKey,
  type Timer,
  type WorkerRecord,
} from '#contracts';
import type { Bus } from '../bus/bus.js';
import type { Closable, Watch } from '../ports/types.js';

export interface WorkerView {
  /** Alive as of now; empty while {@link stale}. */
  live(): WorkerRecord[];
  /** The watch has a gap: who is alive is not known. */
  readonly stale: boolean;
  /** Does a live worker of the service offer the driver? False while stale: unknown means no. */
  offers(service: WorkerRecord['service'], driver: string): boolean;
  onChange(fn: () => void): () => void;
  close(): Promise<void>;
}

export type WorkerAnnouncement = Omit<
  WorkerRecord,
  'beat' | 'incarnation' | 'startedAt' | 'host' | 'addresses' | 'reads'
> &
  Partial<Pick<WorkerRecord, 'host'>> & {
    /** Of its host, as they are now: asked for with each beat. */
    addresses?: () => readonly string[];
    /** Another process with this id took over: this one must end. */
    onDisplaced?: (by: string) => void;
  };

export interface AnnouncedWorker extends Closable {
  /** Self-tested drivers, from now on. */
  setDrivers(drivers: string[], failing?: string[]): void;
}

/** Live fencers and provisioners, with what they offer. */
export const WorkerRegistry = {
  /**
   * Enters this process, beats every 2 s, and deletes the key on close. Where the id is taken it watches the entry
   * for 6 s: still beating, it is refused; silent, it is taken over.
   * @throws ALREADY_EXISTS where another live process has the id
   */
  async announce(bus: Bus, worker: WorkerAnnouncement): Promise<AnnouncedWorker> {
    const { onDisplaced, addresses, ...given } = worker;
    const present = (): Pick<WorkerRecord, 'addresses'> =>
      addresses === undefined ? {} : { addresses: [...addresses()] };
    const bucket = bus.bucket<WorkerRecord>('workers');
    const key = workerKey(worker);
    let record: WorkerRecord = {
      host: hostname(),
      ...given,
      ...present(),
      reads: READS.powerRecords,
      incarnation: bus.random.hex(8),
      startedAt: bus.clock.wallMs(),
      beat: 0,
    };
    let revision = await enterAnew();
    let closed = false;
    let again = false;
    let writing: Promise<void> | undefined;

    /** The entry may change under the look at it: then it is looked at again. */
    async function enterAnew(): Promise<number> {
      for (;;) {
        try {
          return await enter();
        } catch (error) {
          if (MusterError.from(error).code !== 'REVISION_CONFLICT') throw error;
        }
      }
    }
    async function enter(): Promise<number> {
      const existing = await bucket.get(key);
      if (existing === undefined) return bucket.create(key, record);
      const heard = await heardOf(bus, key, existing.revision);
      if (heard === 'beats')
        throw new MusterError('ALREADY_EXISTS', `another ${worker.service} with the id ${worker.id} is alive`, {
          id: worker.id,
        });
      return heard === 'left' ? bucket.create(key, record) : bucket.update(key, record, existing.revision);
    }
    async function beat(): Promise<void> {
      record = { ...record, ...present(), beat: record.beat + 1 };
      try {
        revision = await bucket.update(key, record, revision);
      } catch (error) {
        const failure = MusterError.from(error);
        if (failure.code === 'REVISION_CONFLICT') await examine();
        else bus.log.warn({ key, reason: failure.message }, 'worker heartbeat was not written');
      }
    }
    /** Somebody else wrote or deleted the entry: an own write whose answer was lost, or another process. */
    async function examine(): Promise<void> {
      const entry = await bucket.get(key);
      if (entry === undefined) revision = await bucket.create(key, record);
      else if (entry.value.incarnation === record.incarnation) revision = entry.revision;
      else {
        stop();
        bus.log.error({ key, by: entry.value.host }, 'another process took over this worker id');
        onDisplaced?.(entry.value.host);
      }
    }
    function write(): void {
      if (closed) return;
      if (writing !== undefined) {
        again = true;
        return;
      }
      writing = beat()
        .catch((error: unknown) => bus.log.warn({ key, reason: MusterError.from(error).message }, 'worker entry lost'))
        .finally(() => {
          writing = undefined;
          if (again) {
            again = false;
            write();
          }
        });
    }
    const timer = bus.clock.every(WORKER_BEAT_MS, write);
    function stop(): void {
      closed = true;
      timer.cancel();
    }
    return {
      setDrivers(drivers, failing = []) {
        record = { ...record, drivers, failing };
        write();
      },
      async close() {
        if (closed) return;
        stop();
        await writing;
        await bucket.delete(key, revision);
      },
    };
  },

  /** Judges by its own monotonic clock, from the first beat that it sees, and only while its watch is live. */
  async watch(bus: Bus): Promise<WorkerView> {
    const seen = new Map<string, { record: WorkerRecord; at: number; alive: boolean }>();
    const listeners = new Set<() => void>();
    const told = (): void => listeners.forEach((fn) => fn());
    const now = (): number => bus.clock.monotonicMs();
    const leftMs = (at: number): number => at + WORKER_DEAD_MS - now();
    let closed = false;
    /** Of the moment at which one of them may have been silent for too long; undefined: nobody is waited for. */
    let expiry: Timer | undefined;

    /** A beat moves the moment on, never forward: a timer that stands may ring for nobody. */
    const expect = (): void => {
      if (closed || expiry !== undefined) return;
      let next = Infinity;
      for (const worker of seen.values()) if (worker.alive) next = Math.min(next, leftMs(worker.at));
      if (next < Infinity) expiry = bus.clock.after(Math.max(1, Math.ceil(next)), expire);
    };
    const expire = (): void => {
      expiry = undefined;
      // In a gap nobody dies; after it everybody is waited for anew.
      if (!watch.live) return;
      let changed = false;
      for (const worker of seen.values())
        if (worker.alive && leftMs(worker.at) <= 0) {
          worker.alive = false;
          changed = true;
        }
      expect();
      if (changed) told();
    };

    let opened: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const watch = bus.bucket<WorkerRecord>('workers').watch({
      onChange(key, record) {
        const before = seen.get(key);
        if (record === undefined) seen.delete(key);
        else seen.set(key, { record, at: now(), alive: true });
        expect();
        const same =
          record !== undefined &&
          before?.alive === true &&
          before.record.incarnation === record.incarnation &&
          before.record.drivers.join() === record.drivers.join() &&
          before.record.failing?.join() === record.failing?.join();
        if (!same) told();
      },
      onLive() {
        // After a gap nobody is dead for beats that could not be seen: everybody is examined anew.
        for (const worker of seen.values()) Object.assign(worker, { at: now(), alive: true });
        expect();
        opened();
        told();
      },
      onGap() {
        if (!closed) told();
      },
    });
    await first;

    const live = (): WorkerRecord[] =>
      watch.live ? [...seen.values()].filter((w) => leftMs(w.at) > 0).map((w) => w.record) : [];
    return {
      live,
      get stale() {
        return !watch.live;
      },
      offers: (service, driver) => live().some((w) => w.service === service && w.drivers.includes(driver)),
      onChange(fn) {
        listeners.add(fn);
        return () => listeners.delete(fn);
      },
      async close() {
        closed = true;
        expiry?.cancel();
        await watch.close();
      },
    };
  },
};

/** Watches an entry that somebody else wrote for as long as its owner may keep silent. */
async function heardOf(bus: Bus, key: string, revision: number): Promise<'beats' | 'left' | 'silent'> {
  let timer: Timer | undefined;
  let watch: Watch | undefined;
  try {
    return await new Promise((resolve) => {
      timer = bus.clock.after(WORKER_DEAD_MS, () => resolve('silent'));
      watch = bus.bucket<WorkerRecord>('workers').watch({
        onChange: (changed, value, at) => {
          if (changed === key && at !== revision) resolve(value === undefined ? 'left' : 'beats');
        },
      });
    });
  } finally {
    timer?.cancel();
    await watch?.close();
  }
}
