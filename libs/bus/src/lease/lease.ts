import { MusterError, unreadable, type Clock, type LeaseView, type Timer, type UnreadableRecord } from '#contracts';
import type { Bus } from '../bus/bus.js';
import type { KvBucket } from '../kv/kv-bucket.js';
import type { KvView } from '../kv/kv-view.js';
import type { Pulse } from '../pulse/pulses.js';
import { serverRefusal } from '../servers/server-floor.js';
import type { Entry } from '../ports/types.js';
import {
  decideLease,
  floorKnown,
  initialLease,
  isHeld,
  lapse,
  read,
  refused,
  sending,
  surpassed,
  unanswered,
  unread,
  validUntil,
  written,
  type LeaseAttempt,
  type LeaseRecord,
  type LeaseState,
  type SeenLease,
} from './lease-decide.js';

/** One of each in a cluster. */
const FIXED_LEASES: readonly string[] = ['detector', 'conductor', 'fencer'];

export interface LeaseOptions {
  /** Key in bucket `leases`: `fencer`, `conductor`, `detector`, `job.<id>`. */
  name: string;
  /** Instance that contends. */
  holder: string;
  /** @default 5000 on a single server, 14000 on a cluster (Raft elections take 5–10 s) */
  ttlMs?: number;
  /**
   * The highest token in the records that the lease guards: the next one is above it, whatever became of bucket
   * `leases`. Above 0 it says that somebody has held the lease: a key that is not there is not free at once then. Asked
   * before each acquisition; where it fails nothing is acquired. Absent: the lease guards no records.
   */
  floor?: () => Promise<number>;
}

export type LeaseListener = (event: 'acquired' | 'lost', token: number) => void;

const TTL_SINGLE_MS = 5_000;
const TTL_CLUSTER_MS = 14_000;
/** An answer that takes longer is in doubt: the key is read to learn what became of the write. */
const ANSWER_MS = 1_000;
/** A contender waits for its time to live at most, or for an answer: one that moves in neither time stands still, ms on top. */
const STALLED_MS = 2 * ANSWER_MS;

/**
 * The right to act, on one key of bucket `leases`, by compare-and-set and monotonic clocks only. It fails closed:
 * without NATS it ends by its own deadline, and it is judged at each use, so that a process that was stopped finds
 * it ended when it wakes.
 */
export class Lease {
  private state: LeaseState;
  private readonly store: KvBucket<LeaseRecord>;
  private readonly listeners = new Set<LeaseListener>();
  private announced: number | undefined;
  private running: Promise<void> | undefined;
  private stopping = false;
  private wake: (() => void) | undefined;
  private complained = false;

  constructor(
    private readonly bus: Bus,
    private readonly options: LeaseOptions,
  ) {
    const ttlMs = options.ttlMs ?? (bus.serverInfo?.cluster === undefined ? TTL_SINGLE_MS : TTL_CLUSTER_MS);
    this.state = initialLease(options.holder, bus.random.hex(8), ttlMs, options.floor !== undefined);
    this.store = bus.bucket<LeaseRecord>('leases');
  }

  /** Contends from now on. @throws CONFIG_INVALID on a cluster whose server is too old to be a lock service. */
  start(): void {
    const refusal = this.serverRefusal;
    if (refusal !== undefined) throw new MusterError('CONFIG_INVALID', refusal);
    this.running ??= this.run();
  }

  /** Valid now. */
  get held(): boolean {
    return isHeld(this.state, this.nowNs);
  }

  /** Fencing token of the present or last term; 0 before the first. Only grows. */
  get token(): number {
    return this.state.term?.token ?? this.announced ?? this.last;
  }
  private last = 0;

  /** CLOCK_MONOTONIC ns at which the term ends unless it is renewed; 0 where none is held. */
  get validUntil(): bigint {
    return this.held ? validUntil(this.state) : 0n;
  }

  /** The token, right before an act. @throws LEASE_LOST */
  check(): number {
    if (!this.held || this.state.term === undefined)
      throw new MusterError('LEASE_LOST', `the lease ${this.options.name} is not held by this process`, {
        lease: this.options.name,
      });
    return this.state.term.token;
  }

  /**
   * A record that the lease guards has a token that is higher than the own one, or as high and another's: a store went
   * back. The lease is taken anew with a token above it. @returns whether that is so
   */
  raise(token: number): boolean {
    const own = this.state.term?.token;
    if (!this.held || own === undefined || token < own) return false;
    this.bus.log.warn({ lease: this.options.name, token: own, found: token }, 'token is behind: lease is taken anew');
    this.end();
    this.state = surpassed(this.state, token);
    this.wake?.();
    return true;
  }

  /** `lost` may come late after a pause: use {@link check} before acting. Returns the way to stop listening. */
  on(listener: LeaseListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Resolves with the token as soon as the lease is held. Stays open where it never is. */
  whenHeld(): Promise<number> {
    if (this.held) return Promise.resolve(this.check());
    return new Promise((resolve) => {
      const off = this.on((event, token) => {
        if (event !== 'acquired') return;
        off();
        resolve(token);
      });
    });
  }

  /**
   * Stops contending and gives the lease up, so that another takes it at once. The key stays, with an empty holder,
   * unless `forget` (leases of jobs, which nobody will contend for again); tokens grow in both cases.
   */
  async stop(o: { forget?: boolean } = {}): Promise<void> {
    this.stopping = true;
    this.wake?.();
    await this.running;
    this.running = undefined;
    const term = this.state.term;
    if (term === undefined) return;
    this.end('given up');
    try {
      if (o.forget === true) await this.store.delete(this.options.name, term.revision);
      else {
        const nonce = `${this.state.process}.${this.state.counter + 1}`;
        const record: LeaseRecord = { holder: '', token: term.token, nonce, ttlMs: this.state.ttlMs };
        await this.store.update(this.options.name, record, term.revision);
      }
    } catch (error) {
      // Not given up: it runs out by itself, others wait for that.
      this.bus.log.debug(
        { lease: this.options.name, reason: MusterError.from(error).message },
        'lease was not released',
      );
    }
  }

  /** Of the server that it is connected to now: one that was not there at the start may be too old. */
  private get serverRefusal(): string | undefined {
    const { serverInfo } = this.bus;
    return serverInfo && serverRefusal(serverInfo);
  }

  private async run(): Promise<void> {
    const { contended, pulses } = this.bus;
    const pulse = pulses.begin(`lease ${this.options.name}`, this.state.ttlMs + STALLED_MS);
    // Names that are made, of jobs, would be told as ever more series.
    const isFixed = FIXED_LEASES.includes(this.options.name);
    if (isFixed) contended.set(this.options.name, () => this.held);
    try {
      await this.contend(pulse);
    } finally {
      pulse.end();
      if (isFixed) contended.delete(this.options.name);
    }
  }

  private async contend(pulse: Pulse): Promise<void> {
    while (!this.stopping)
      try {
        pulse.beat();
        await this.step();
      } catch (cause) {
        // Nothing is known to come here; a lease that nobody contends for any more would be worse than one line more.
        this.complain(MusterError.from(cause));
        await this.wait(this.nowNs + 500_000_000n);
      }
    // A write under way must be known before the key is given up.
    while (this.state.writing) await this.wait(this.nowNs + 20_000_000n);
  }

  private async step(): Promise<void> {
    const action = decideLease(this.state, this.nowNs);
    if (action.do === 'lapse') this.lapse();
    else if (action.do === 'wait') await this.wait(action.untilNs);
    else if (action.do === 'read') await this.read();
    else if (action.do === 'ask-floor') await this.askFloor();
    else this.write(action.attempt);
  }

  private async askFloor(): Promise<void> {
    const answer = await this.inTime(this.options.floor?.() ?? Promise.resolve(0));
    if (answer !== 'late' && !(answer instanceof Error)) {
      this.state = floorKnown(this.state, answer.value);
      return;
    }
    this.complain(answer === 'late' ? new MusterError('TIMEOUT', 'the highest token is not known yet') : answer);
    await this.wait(this.nowNs + 500_000_000n);
  }

  private lapse(): void {
    this.end();
    this.state = lapse(this.state);
  }

  /** Tells the end of a term that was announced. */
  private end(how: 'lost' | 'given up' = 'lost'): void {
    const token = this.announced;
    if (token === undefined) return;
    this.announced = undefined;
    this.last = token;
    const { term: _over, ...rest } = this.state;
    this.state = rest;
    // Every job gives its lease up in the end: that is nobody's news.
    this.bus.log[how === 'lost' ? 'warn' : 'debug']({ lease: this.options.name, token }, `lease ${how}`);
    this.announce('lost', token);
  }

  /** One who fails keeps neither the others nor the lease from going on. */
  private announce(event: 'acquired' | 'lost', token: number): void {
    for (const listener of [...this.listeners])
      try {
        listener(event, token);
      } catch (err) {
        this.bus.log.error({ err, lease: this.options.name, event }, 'a listener of the lease failed');
      }
  }

  private async read(): Promise<void> {
    const answer = await this.inTime(this.store.read(this.options.name));
    if (answer === 'late' || answer instanceof Error) this.state = unread(this.state, this.nowNs);
    else this.moveTo(read(this.state, seenOf(answer.value), this.nowNs));
    this.complain(faultOf(answer));
  }

  private write(a: LeaseAttempt): void {
    const refusal = a.kind === 'acquire' ? this.serverRefusal : undefined;
    if (refusal !== undefined) {
      this.complain(new MusterError('CONFIG_INVALID', refusal));
      this.state = unread(this.state, this.nowNs);
      return;
    }
    this.state = sending(this.state, a);
    const sent =
      a.basis === 0
        ? this.store.create(this.options.name, a.record, { timeoutMs: ANSWER_MS })
        : this.store.update(this.options.name, a.record, a.basis, { timeoutMs: ANSWER_MS });
    let inTime = true;
    const timer = this.bus.clock.after(ANSWER_MS, () => {
      inTime = false;
      this.moveTo(unanswered(this.state));
    });
    sent
      .then(
        (revision) => this.moveTo(written(this.state, a, revision)),
        (error: unknown) => {
          const failure = MusterError.from(error);
          if (failure.code === 'REVISION_CONFLICT') this.moveTo(refused(this.state, a));
          else if (inTime) this.moveTo(unanswered(this.state));
          this.complain(failure.code === 'REVISION_CONFLICT' ? undefined : failure);
        },
      )
      .finally(() => timer.cancel());
  }

  /** Takes over a new state, and tells what it means to those who hold on to the lease. */
  private moveTo(next: LeaseState): void {
    const token = next.term?.token;
    if (this.announced !== undefined && token !== this.announced) this.end();
    this.state = next;
    if (token !== undefined && this.announced === undefined && isHeld(next, this.nowNs) && !this.stopping) {
      this.announced = token;
      this.bus.log.debug({ lease: this.options.name, token }, 'lease held');
      this.announce('acquired', token);
    }
    this.wake?.();
  }

  /** Once per fault, not twice a second. */
  private complain(error: Error | undefined): void {
    if (error !== undefined && !this.complained)
      this.bus.log.warn({ lease: this.options.name, reason: error.message }, 'lease cannot be read or written');
    this.complained = error !== undefined;
  }

  private get nowNs(): bigint {
    return this.bus.clock.monotonicNs();
  }

  /** The answer, the failure, or `late` where it takes longer than {@link ANSWER_MS}. */
  private async inTime<T>(answer: Promise<T>): Promise<{ value: T } | Error | 'late'> {
    let timer: Timer | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = this.bus.clock.after(ANSWER_MS, () => resolve('late'));
    });
    const settled = answer.then(
      (value) => ({ value }),
      (error: unknown) => MusterError.from(error),
    );
    try {
      return await Promise.race([settled, late]);
    } finally {
      timer?.cancel();
    }
  }

  private wait(untilNs: bigint): Promise<void> {
    const ms = Math.max(1, Math.ceil(Number(untilNs - this.nowNs) / 1e6));
    return new Promise((resolve) => {
      const go = (): void => {
        timer.cancel();
        this.wake = undefined;
        resolve();
      };
      const timer = this.bus.clock.after(ms, go);
      this.wake = go;
    });
  }

  /** All leases as seen from here, for status pages: reading it gives no right to anything. */
  static view(leases: KvView<LeaseRecord>, clock: Pick<Clock, 'monotonicMs'>): LeaseViewer {
    const now = (): number => clock.monotonicMs();
    const seenAt = new Map<string, { revision: number; at: number }>();
    const note = (key: string): void => {
      const shown = leases.get(key);
      if (shown === undefined) seenAt.delete(key);
      else if (seenAt.get(key)?.revision !== shown.revision) seenAt.set(key, { revision: shown.revision, at: now() });
    };
    for (const entry of leases.entries()) note(entry.key);
    const off = leases.onChange(note);
    return {
      list: () =>
        leases.entries().map((entry) => ({
          name: entry.key,
          ...(entry.value.holder === '' ? {} : { holder: entry.value.holder }),
          token: entry.value.token,
          ageMs: Math.round(now() - (seenAt.get(entry.key)?.at ?? now())),
        })),
      close: off,
    };
  }
}

const seenOf = (found: Entry<LeaseRecord> | UnreadableRecord | undefined): SeenLease | undefined =>
  found === undefined || 'value' in found ? found : { revision: found.revision };

function faultOf(answer: { value: unknown } | Error | 'late'): Error | undefined {
  if (answer instanceof Error) return answer;
  const found = answer === 'late' ? undefined : (answer.value as UnreadableRecord | undefined);
  return found !== undefined && 'why' in found ? unreadable(found) : undefined;
}

export interface LeaseViewer {
  list(): LeaseView[];
  /** The view that it was made of stays open. */
  close(): void;
}
