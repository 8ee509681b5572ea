import { isConflict, isConflictInDoubt, MusterError, refusedInDoubt, type Clock } from '#contracts';
import type { Entry, KvBucket } from '#bus';

/** What a change makes of the value; `next` absent: it leaves the value alone. */
export interface Decision<T, A> {
  next?: T | undefined;
  answer: A;
}

/** One change of the shared value. Both may run several times, until what they rest on is written. */
export interface GroupChange<T, Round, Facts, A> {
  /** Reads what the decision rests on; begun after `value` was read, so that nothing here is older than that. */
  read(value: T, round: Round): Promise<Facts>;
  /** Pure. `value` as those before it in the group have left it. What it throws refuses this change alone. */
  decide(value: T, facts: Facts): Decision<T, A>;
}

interface Member<T, Round> {
  read(value: T, round: Round): Promise<void>;
  decide(value: T): T | undefined;
  /** Hands on what was decided last. */
  conclude(): void;
  /** What was decided last may have been written. */
  doubt(): void;
  refuse(e: unknown): void;
  deadline: number;
}

/** A change that was never written because others were always faster is given up after this long, ms. */
const LIMIT_MS = 10_000;

/**
 * One key on which many decide at once. Those that wait are decided one after the other over the same value, and
 * written by one compare-and-set: among 50 writers of one key who each wrote for himself, one try in 50 would win.
 * Where another process was faster, the whole group is decided anew.
 */
export class GroupCommit<T, Round> {
  private waiting: Member<T, Round>[] = [];
  private running: Promise<void> | undefined;

  /**
   * @param empty the value where the key has none
   * @param newRound what the looks of one group share, made after the value was read
   */
  constructor(
    private readonly bucket: Pick<KvBucket<T>, 'get' | 'create' | 'update'>,
    private readonly key: string,
    private readonly empty: T,
    private readonly newRound: () => Round,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  /**
   * Resolves once the change is written.
   * @throws what `read` or `decide` threw: then it has changed nothing. TIMEOUT instead where an earlier try of it may
   *   have been written
   */
  change<Facts, A>(c: GroupChange<T, Round, Facts, A>): Promise<A> {
    return new Promise<A>((resolve, reject) => {
      let facts: { value: Facts } | { error: unknown };
      let outcome: { answer: A } | { error: unknown };
      let [isProposed, mayBeWritten] = [false, false];
      const refuse = (e: unknown): void => reject(mayBeWritten ? refusedInDoubt(e) : (e as Error));
      this.waiting.push({
        deadline: this.clock.monotonicMs() + LIMIT_MS,
        refuse,
        doubt: () => (mayBeWritten ||= isProposed),
        read: async (value, round) => {
          try {
            facts = { value: await c.read(value, round) };
          } catch (error) {
            facts = { error };
          }
        },
        decide: (value) => {
          try {
            if ('error' in facts) throw facts.error;
            const { next, answer } = c.decide(value, facts.value);
            outcome = { answer };
            isProposed = next !== undefined;
            return next;
          } catch (error) {
            outcome = { error };
            isProposed = false;
            return undefined;
          }
        },
        conclude: () => ('error' in outcome ? refuse(outcome.error) : resolve(outcome.answer)),
      });
      this.running ??= this.run();
    });
  }

  private async run(): Promise<void> {
    while (this.waiting.length > 0) await this.commit();
    this.running = undefined;
  }

  private async commit(): Promise<void> {
    let group: Member<T, Round>[] = [];
    try {
      const current = await this.bucket.get(this.key);
      // Who came while the value was read is as welcome: what it rests on is read only now.
      group = this.waiting.splice(0);
      if (await this.decideAll(group, current)) for (const m of group) m.conclude();
      else this.waiting.unshift(...this.stillInTime(group));
    } catch (e) {
      // Not written, or nobody knows: the same for all of them.
      for (const m of group.length > 0 ? group : this.waiting.splice(0)) m.refuse(e);
    }
  }

  /** @returns false where another was faster: nothing has changed, unless the members are in doubt */
  private async decideAll(group: readonly Member<T, Round>[], current: Entry<T> | undefined): Promise<boolean> {
    const before = current?.value ?? this.empty;
    const round = this.newRound();
    await Promise.all(group.map((m) => m.read(before, round)));
    let value = before;
    for (const m of group) value = m.decide(value) ?? value;
    if (value === before) return true;
    try {
      if (current) await this.bucket.update(this.key, value, current.revision);
      else await this.bucket.create(this.key, value);
      return true;
    } catch (e) {
      if (!isConflict(e)) throw e;
      if (isConflictInDoubt(e)) for (const m of group) m.doubt();
      return false;
    }
  }

  private stillInTime(group: Member<T, Round>[]): Member<T, Round>[] {
    const now = this.clock.monotonicMs();
    const [late, rest] = [group.filter((m) => m.deadline <= now), group.filter((m) => m.deadline > now)];
    for (const m of late)
      m.refuse(new MusterError('REVISION_CONFLICT', `${this.key}: others were always faster`, { key: this.key }));
    return rest;
  }
}
