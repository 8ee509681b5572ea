import type { Clock } from '#contracts';

/** How the test of a node's power devices ended: why it failed, or the revision of the record that it passed with. */
export type TestOutcome = { why: string } | { revision: number };

export interface TestedNode {
  name: string;
  revision: number;
}

export interface SelfTestLimits {
  atOnce: number;
  /** All tests of one request together, ms. */
  withinMs: number;
  /** For how long a test that was passed counts for the request that goes on with those left, ms. */
  keptMs: number;
}

export interface SelfTestsOutcome {
  /** Node → why. */
  failed: Record<string, string>;
  /** Those that had not ended in time. They go on where they have begun. */
  untested: string[];
  /** Whether it was all over in time, by the end. */
  inTime: boolean;
}

/**
 * Tests of many power devices for somebody who does not wait for ever. What has not ended in time is not lost: whoever
 * asks again soon finds what was passed meanwhile, and waits for what is under way.
 */
export class SelfTests {
  private readonly passed = new Map<string, { revision: number; at: number }>();
  private readonly underWay = new Map<string, Promise<TestOutcome>>();

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>,
    private readonly limits: SelfTestLimits,
  ) {}

  /** @param test never rejects */
  async run(nodes: readonly TestedNode[], test: (name: string) => Promise<TestOutcome>): Promise<SelfTestsOutcome> {
    const { atOnce, withinMs } = this.limits;
    const begun = this.clock.monotonicMs();
    const isOver = (): boolean => this.clock.monotonicMs() - begun >= withinMs;
    this.forgetOld(begun);
    const queue = nodes.filter((n) => this.passed.get(n.name)?.revision !== n.revision).map((n) => n.name);
    const left = new Set(queue);
    const failed: Record<string, string> = {};
    const next = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined && !isOver(); name = queue.shift()) {
        const outcome = await this.test(name, test);
        if ('why' in outcome) failed[name] = outcome.why;
        left.delete(name);
      }
    };
    const stop = new AbortController();
    const ended = Promise.all(Array.from({ length: atOnce }, next));
    await Promise.race([ended, this.clock.sleep(withinMs, { signal: stop.signal })]);
    stop.abort();
    // A request that is complete begins anew: what answered before need not answer now.
    if (left.size === 0) this.passed.clear();
    return { failed: { ...failed }, untested: [...left], inTime: !isOver() };
  }

  private test(name: string, test: (name: string) => Promise<TestOutcome>): Promise<TestOutcome> {
    const running = this.underWay.get(name);
    if (running !== undefined) return running;
    const begun = test(name)
      .then((outcome) => {
        if (!('why' in outcome)) this.passed.set(name, { ...outcome, at: this.clock.monotonicMs() });
        return outcome;
      })
      .finally(() => this.underWay.delete(name));
    this.underWay.set(name, begun);
    return begun;
  }

  private forgetOld(now: number): void {
    for (const [name, { at }] of this.passed) if (now - at > this.limits.keptMs) this.passed.delete(name);
  }
}
