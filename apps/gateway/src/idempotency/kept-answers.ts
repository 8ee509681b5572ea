import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { forgetOldest, type Bus, type Entry, type KvBucket } from '#bus';
import { MusterError, type WireError } from '#contracts';
import { fingerprint, type KeyedRequest, recordKey } from './request-key.js';

/** What the handler of the route gave or threw. */
export type KeptAnswer = { body?: unknown } | { error: WireError };

/** Bucket `idempotency`. Without an answer: somebody is at it, or died at it. */
interface Attempt {
  fingerprint: string;
  /** Process that is at it: its instance, and which start of that. */
  instance: string;
  incarnation: string;
  answer?: KeptAnswer;
}

/** The right, taken by compare-and-set, to carry the request out and to keep its answer. */
export interface Turn {
  key: string;
  attempt: Attempt;
  revision: number;
}

/**
 * An attempt of another gateway that has not changed for this long is one that nobody is at: longer than any request
 * to another service is waited for. On our own monotonic clock, from when we first saw it.
 */
export const LEFT_BEHIND_MS = 20_000;
/** Attempts of others that are remembered at once; of more, the oldest sight is forgotten, which only prolongs the wait. */
const SIGHTS = 1_000;

/** Answers to requests that came with an Idempotency-Key, for a day (the age of the bucket). */
export class KeptAnswers {
  private readonly incarnation = randomUUID();
  private readonly bucket: KvBucket<Attempt>;
  /** Revision → when it was first seen. */
  private readonly sights = new Map<number, number>();

  constructor(
    private readonly bus: Bus,
    private readonly instance: string,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.bucket = bus.bucket<Attempt>('idempotency');
  }

  /**
   * The answer that was given before, or the turn to find one.
   * @throws MusterError IDEMPOTENCY_MISMATCH: the key was used for another request; IDEMPOTENCY_IN_PROGRESS: the same
   * request is being carried out; BUS_UNAVAILABLE
   */
  async begin(request: KeyedRequest): Promise<{ answer: KeptAnswer } | { turn: Turn }> {
    if (!this.bus.connected) throw new MusterError('BUS_UNAVAILABLE', 'no connection to NATS; it is being made anew');
    const key = recordKey(request);
    const attempt: Attempt = {
      fingerprint: fingerprint(request),
      instance: this.instance,
      incarnation: this.incarnation,
    };
    const found = await this.bucket.get(key);
    if (found === undefined) return { turn: await this.acquire(key, attempt, 0) };
    if (found.value.fingerprint !== attempt.fingerprint)
      throw new MusterError(
        'IDEMPOTENCY_MISMATCH',
        'this Idempotency-Key came with another request before; take a new key for a new request',
      );
    if (found.value.answer !== undefined) return { answer: found.value.answer };
    if (!this.isLeftBehind(found)) throw inProgress();
    return { turn: await this.acquire(key, attempt, found.revision) };
  }

  async keep({ key, attempt, revision }: Turn, answer: KeptAnswer): Promise<void> {
    await this.bucket.update(key, { ...attempt, answer }, revision);
  }

  /** The same request may be tried again. */
  async forget({ key, revision }: Turn): Promise<void> {
    await this.bucket.delete(key, revision);
  }

  private async acquire(key: string, attempt: Attempt, over: number): Promise<Turn> {
    try {
      const revision = await (over === 0 ? this.bucket.create(key, attempt) : this.bucket.update(key, attempt, over));
      return { key, attempt, revision };
    } catch (error) {
      if (MusterError.from(error).code === 'REVISION_CONFLICT') throw inProgress();
      throw error;
    }
  }

  private isLeftBehind({ value, revision }: Entry<Attempt>): boolean {
    if (value.instance === this.instance) return value.incarnation !== this.incarnation;
    const first = this.sights.get(revision);
    if (first !== undefined) return this.now() - first >= LEFT_BEHIND_MS;
    this.sights.set(revision, this.now());
    forgetOldest(this.sights, SIGHTS);
    return false;
  }
}

const inProgress = (): MusterError =>
  new MusterError('IDEMPOTENCY_IN_PROGRESS', 'the same request is being carried out; ask again for its answer');
