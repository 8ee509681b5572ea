import { beforeEach, describe, expect, it } from 'vitest';
import { SelfTests, type TestOutcome } from './self-tests.js';

/** A clock that stands still until it is moved, and tests that end when they are told to. */
class Bench {
  private now = 0;
  private sleepers: { at: number; wake: () => void }[] = [];
  private tests = new Map<string, (o: TestOutcome) => void>();
  begun: string[] = [];
  readonly clock = {
    monotonicMs: (): number => this.now,
    sleep: (ms: number): Promise<void> => new Promise((wake) => void this.sleepers.push({ at: this.now + ms, wake })),
  };
  readonly sut = new SelfTests(this.clock, { atOnce: 2, withinMs: 100, keptMs: 1_000 });
  readonly run = (...names: string[]) =>
    this.sut.run(
      names.map((name) => ({ name, revision: 7 })),
      (name) => {
        this.begun.push(name);
        return new Promise((resolve) => void this.tests.set(name, resolve));
      },
    );

  async end(name: string, outcome: TestOutcome = { revision: 7 }): Promise<void> {
    this.tests.get(name)?.(outcome);
    await settled();
  }

  async pass(ms: number): Promise<void> {
    this.now += ms;
    for (const { at, wake } of this.sleepers) if (at <= this.now) wake();
    await settled();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('tests of power devices', () => {
  let h: Bench;
  beforeEach(() => (h = new Bench()));

  it('are so many at once, and each that fails is named with why', async () => {
    const outcome = h.run('a', 'b', 'c');
    expect(h.begun).toEqual(['a', 'b']);
    await h.end('a', { why: 'none' });
    expect(h.begun).toEqual(['a', 'b', 'c']);
    await h.end('b');
    await h.end('c', { why: 'bmc: BMC_TIMEOUT' });
    expect(await outcome).toEqual({ failed: { a: 'none', c: 'bmc: BMC_TIMEOUT' }, untested: [], inTime: true });
  });

  it('are over after their time: what has not ended by then, or was not begun, is untested', async () => {
    const outcome = h.run('a', 'b', 'c', 'd');
    await h.end('a');
    await h.pass(100);
    expect(await outcome).toEqual({ failed: {}, untested: ['b', 'c', 'd'], inTime: false });
    await h.end('b');
    expect(h.begun).toEqual(['a', 'b', 'c']);
  });

  it('go on with those that are left when they are asked for again', async () => {
    const first = h.run('a', 'b', 'c', 'd');
    await h.end('a');
    await h.pass(100);
    await first;
    // It passes after that: it counts.
    await h.end('b');
    const second = h.run('a', 'b', 'c', 'd');
    // c is under way from before.
    expect(h.begun).toEqual(['a', 'b', 'c', 'd']);
    await h.end('c');
    await h.end('d');
    expect(await second).toEqual({ failed: {}, untested: [], inTime: true });
  });

  it('are made anew of what has failed, of a record that has changed, and after a while', async () => {
    const first = h.run('a', 'b', 'c', 'd');
    await h.end('a', { why: 'none' });
    await h.end('b', { revision: 8 });
    await h.end('c');
    await h.pass(100);
    await first;
    const second = h.run('a', 'b', 'c');
    expect(h.begun.slice(4)).toEqual(['a', 'b']);
    await h.pass(1_001);
    await second;
    await h.end('a');
    await h.end('b');
    void h.run('c');
    expect(h.begun.slice(6)).toEqual(['c']);
  });

  it('are all made anew once none was left', async () => {
    const first = h.run('a');
    await h.end('a');
    await first;
    void h.run('a');
    expect(h.begun).toEqual(['a', 'a']);
  });

  it('that a standstill of this process has outlasted are not in time, although none is left', async () => {
    const outcome = h.run('a');
    void h.pass(500);
    await h.end('a');
    expect((await outcome).inTime).toBe(false);
  });
});
