import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import { systemRandom } from '#bus/system/system-random.js';
import { MusterError } from '#contracts';
import { Executor } from './executor.js';
import { EVERYTHING, type Reconciler, type Source, type Task, type TaskRun } from './task.js';

/** Who holds the lease, and what the executor logs. Time is the spec's. */
class World {
  term: number | undefined = 1;
  /** Thrown where a run asks whether it may begin. */
  beginFails: Error | undefined;
  chance = 0;
  readonly errors: [facts: object, line: string][] = [];
  readonly lost: string[] = [];
  readonly sut = new Executor(
    {
      begin: () => {
        if (this.beginFails !== undefined) throw this.beginFails;
        return this.term;
      },
      check: () => {
        if (this.term === undefined) throw new MusterError('LEASE_LOST', 'not held');
        return this.term;
      },
    },
    { ...systemClock, monotonicMs: () => performance.now() },
    { ...systemRandom, number: () => this.chance },
    {
      debug: (_facts: object, line: string) => void this.lost.push(line),
      error: (facts: object, line: string) => void this.errors.push([facts, line]),
    },
  );

  add(name: string, reconcile: Reconciler['reconcile'], watches: readonly Source[] = EVERYTHING): void {
    const task: Task = { name, watches, periodMs: 1000, severity: 'warning', reconciler: { reconcile } };
    this.sut.add(task);
  }
}

/** Settles what is due now. */
const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

/** A wait that the spec ends. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

describe('the executor', () => {
  let world: World;
  beforeEach(() => {
    vi.useFakeTimers();
    world = new World();
  });
  afterEach(() => vi.useRealTimers());

  it('begins nothing where the lease is not held', async () => {
    const ran: string[] = [];
    world.add('a', async () => Promise.resolve(void ran.push('a')));
    world.term = undefined;
    world.sut.wakeAll();
    await vi.advanceTimersByTimeAsync(100);
    expect(ran).toEqual([]);
    world.term = 2;
    world.sut.wakeAll();
    await settled();
    expect(ran).toEqual(['a']);
  });

  it('fails the task where nobody can say whether it may begin, and whoever wakes it goes on', async () => {
    const ran: string[] = [];
    world.add('a', async () => Promise.resolve(void ran.push('a')));
    world.add('b', async () => Promise.resolve(void ran.push('b')));
    world.beginFails = new MusterError('INTERNAL', 'odd record');
    expect(() => world.sut.wakeAll()).not.toThrow();
    await settled();
    expect(ran).toEqual([]);
    expect(world.errors).toEqual([
      [expect.objectContaining({ task: 'a', code: 'INTERNAL' }), expect.stringContaining('odd record')],
      [expect.objectContaining({ task: 'b', code: 'INTERNAL' }), expect.stringContaining('odd record')],
    ]);
    expect(world.sut.failing()).toMatchObject([
      { name: 'a', errors: 1, lastError: { message: 'odd record' } },
      { name: 'b', errors: 1 },
    ]);
    world.beginFails = undefined;
    world.sut.wakeAll();
    await vi.advanceTimersByTimeAsync(100);
    expect(ran).toEqual(['a', 'b']);
    expect(world.sut.failing()).toEqual([]);
  });

  it.each([
    ['lost', undefined],
    ['lost and won again', 2],
  ])('lets nothing be written once the lease was %s while the run waited', async (_how, then) => {
    const written: string[] = [];
    const { passed, open } = gate();
    world.add('a', async (run) => {
      run.check();
      written.push('before');
      await passed;
      run.check();
      written.push('after');
    });
    world.sut.wakeAll();
    await settled();
    world.term = then;
    open();
    await settled();
    expect(written).toEqual(['before']);
    expect(world.errors).toEqual([]);
    expect(world.lost).toHaveLength(1);
  });

  it('has run one to its end when that returns, where there was nothing to wait for', async () => {
    let runs = 0;
    world.add('a', () => {
      runs++;
      // As a change that it brings about itself.
      world.sut.wakeAll();
      return undefined;
    });
    world.add('fails', () => {
      throw new Error('odd');
    });
    world.add('is late', (run) => {
      world.term = undefined;
      run.check();
      return undefined;
    });
    world.sut.wakeAll();
    expect(runs).toBe(1);
    expect(world.sut.list()[0]).toMatchObject({ name: 'a', lastMs: 0 });
    expect(world.sut.list()[0]).not.toHaveProperty('runningMs');
    await settled();
    expect(world.sut.failing()).toMatchObject([{ name: 'fails', errors: 1 }]);
    expect(world.lost).toEqual(['not held']);
    world.term = 1;
    await vi.advanceTimersByTimeAsync(10);
    expect(runs).toBe(2);
    await world.sut.close();
  });

  it('gives the next term a run of its own', async () => {
    const tokens: number[] = [];
    world.add('a', async (run) => Promise.resolve(void tokens.push(run.token, run.check())));
    world.sut.wakeAll();
    await vi.advanceTimersByTimeAsync(100);
    world.term = 7;
    world.sut.wakeAll();
    await settled();
    expect(tokens).toEqual([1, 1, 7, 7]);
  });

  it('leaves the others running where one throws, and runs that one again', async () => {
    let runs = 0;
    const ran: string[] = [];
    world.add('fails', async () => Promise.reject(new Error(`odd ${++runs}`)));
    world.add('other', async () => Promise.resolve(void ran.push('other')));
    world.sut.wakeAll();
    await vi.advanceTimersByTimeAsync(100);
    world.sut.wakeAll();
    await settled();
    expect(ran).toEqual(['other', 'other']);
    expect(world.errors).toMatchObject([
      [{ task: 'fails', code: 'INTERNAL' }, 'fails failed: odd 1'],
      [{ task: 'fails' }, 'fails failed: odd 2'],
    ]);
  });

  it('leaves the other parts of a run running where one throws, and logs what it was about', async () => {
    const done: string[] = [];
    world.add('a', async (run) => {
      await Promise.all(
        ['n-1', 'n-2'].map((node) =>
          run.isolated({ node }, async () => {
            if (node === 'n-1') throw new MusterError('TIMEOUT', 'no answer');
            return Promise.resolve(void done.push(node));
          }),
        ),
      );
      done.push('rest');
    });
    world.sut.wakeAll();
    await settled();
    expect(done).toEqual(['n-2', 'rest']);
    expect(world.errors).toMatchObject([[{ task: 'a', node: 'n-1', code: 'TIMEOUT' }, 'a failed: no answer']]);
  });

  it('begins no part once the lease is lost, nor once it was lost and won again, and ends the run', async () => {
    for (const then of [undefined, 2]) {
      const begun: string[] = [];
      const name = `then ${then}`;
      world.term = 1;
      world.add(name, async (run) => {
        for (const node of ['n-1', 'n-2'])
          await run.isolated({ node }, async () => {
            begun.push(node);
            world.term = then;
            return Promise.resolve();
          });
        begun.push('rest');
      });
      world.sut.wakeAll();
      await settled();
      expect(begun).toEqual(['n-1']);
    }
    expect(world.errors).toEqual([]);
  });

  it('does not end the process where a run fails before it awaits the parts that it began', async () => {
    world.add('a', async (run) => {
      world.term = undefined;
      const parts = [run.isolated({ node: 'n-1' }, async () => Promise.resolve())];
      if (parts.length > 0) throw new Error('odd');
      await Promise.all(parts);
    });
    world.sut.wakeAll();
    await vi.advanceTimersByTimeAsync(100);
    expect(world.errors).toMatchObject([[{ task: 'a' }, 'a failed: odd']]);
  });

  it('lets one that hangs hold up no other', async () => {
    const ran: string[] = [];
    world.add('hangs', () => new Promise(() => undefined));
    world.add('fences', async () => Promise.resolve(void ran.push('fences')));
    for (let i = 0; i < 3; i++) {
      world.sut.wake('nodes');
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(ran).toEqual(['fences', 'fences', 'fences']);
  });

  it('runs one never twice at once, and once more for all wakes that came meanwhile', async () => {
    let now = 0;
    let most = 0;
    let runs = 0;
    const { passed, open } = gate();
    world.add('slow', async () => {
      runs++;
      most = Math.max(most, ++now);
      await passed;
      now--;
    });
    for (let i = 0; i < 5; i++) {
      world.sut.wakeAll();
      await vi.advanceTimersByTimeAsync(20);
    }
    open();
    await vi.advanceTimersByTimeAsync(100);
    expect({ most, runs }).toEqual({ most: 1, runs: 2 });
  });

  it('leaves no timer behind that nobody waits for, and runs one at the end of the gap that was woken within it', async () => {
    let runs = 0;
    world.add('a', async () => Promise.resolve(void runs++));
    world.sut.wakeAll();
    await settled();
    expect({ runs, timers: vi.getTimerCount() }).toEqual({ runs: 1, timers: 0 });
    for (let i = 0; i < 3; i++) world.sut.wakeAll();
    await vi.advanceTimersByTimeAsync(9);
    expect({ runs, timers: vi.getTimerCount() }).toEqual({ runs: 1, timers: 1 });
    await vi.advanceTimersByTimeAsync(1);
    expect({ runs, timers: vi.getTimerCount() }).toEqual({ runs: 2, timers: 0 });
    world.sut.wakeAll();
    await world.sut.close();
    await vi.advanceTimersByTimeAsync(100);
    expect({ runs, timers: vi.getTimerCount() }).toEqual({ runs: 2, timers: 0 });
  });

  it('tries an isolated part that fails less and less often, and what else is about the same in every run', async () => {
    const tried: number[] = [];
    const began = performance.now();
    let noted = 0;
    world.add('a', async (run) => {
      const fails = async (): Promise<void> => {
        tried.push(Math.round(performance.now() - began));
        return Promise.reject(new Error('odd'));
      };
      await run.isolated({ node: 'n-1' }, fails, 'fence');
      await run.isolated({ node: 'n-1' }, async () => Promise.resolve(void noted++), 'note');
    });
    for (let at = 0; at < 3000; at += 10) {
      world.sut.wakeAll();
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(tried).toEqual([0, 50, 150, 350, 750, 1550, 2550]);
    expect(noted).toBe(300);
    expect(world.errors).toHaveLength(tried.length);
    expect(world.sut.failing()).toMatchObject([{ name: 'a', errors: tried.length }]);
  });

  it('does a part at its pace, however often the task runs, and in the next term too', async () => {
    const done: number[] = [];
    const began = performance.now();
    world.add('a', (run) =>
      run.every('look', { everyMs: 500 }, async () =>
        Promise.resolve(void done.push(Math.round(performance.now() - began))),
      ),
    );
    for (let at = 0; at < 1200; at += 100) {
      if (at === 200) world.term = 2;
      world.sut.wakeAll();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(done).toEqual([0, 500, 1000]);
  });

  it('tries a part that failed again by its policy, with the chance that it is given', async () => {
    const tried: number[] = [];
    const began = performance.now();
    const retry = { firstMs: 1000, growth: 2, mostMs: 3000, spread: 0.5 };
    world.add('a', (run) =>
      run.every('look', { everyMs: 100, retry }, async () => {
        tried.push(Math.round(performance.now() - began));
        return tried.length === 5 ? Promise.resolve() : Promise.reject(new Error('odd'));
      }),
    );
    for (let at = 0; at < 9100; at += 100) {
      if (at === 6000) world.chance = 0.8;
      world.sut.wakeAll();
      await vi.advanceTimersByTimeAsync(100);
    }
    // 1 s, 2 s, 3 s; at 6 s chance takes two fifths of 3 s off; then all is well, and the next failure is a first one.
    expect(tried).toEqual([0, 1000, 3000, 6000, 7800, 7900, 8500]);
    expect(world.errors).toHaveLength(6);
  });

  it('tries a part again by its policy of which only an isolated part has failed', async () => {
    const tried: number[] = [];
    const began = performance.now();
    const retry = { firstMs: 1000 };
    world.add('a', (run) =>
      run.every('look', { everyMs: 100, retry }, async () => {
        tried.push(Math.round(performance.now() - began));
        await run.isolated({ node: 'n-1' }, async () =>
          tried.length === 1 ? Promise.reject(new Error('odd')) : Promise.resolve(),
        );
      }),
    );
    for (let at = 0; at < 1200; at += 100) {
      world.sut.wakeAll();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(tried).toEqual([0, 1000, 1100]);
    expect(world.errors).toHaveLength(1);
  });

  it('does a part that lost the lease again as soon as it is held', async () => {
    let tries = 0;
    world.add('a', (run) =>
      run.every('look', { everyMs: 60_000 }, async () => {
        tries++;
        world.term = tries === 1 ? undefined : 2;
        run.check();
        return Promise.resolve();
      }),
    );
    world.sut.wakeAll();
    await vi.advanceTimersByTimeAsync(100);
    world.term = 2;
    world.sut.wakeAll();
    await vi.advanceTimersByTimeAsync(100);
    expect(tries).toBe(2);
  });

  it('wakes those that watch what has changed, and those whose period is over', async () => {
    const ran: string[] = [];
    const note = (name: string) => async (_run: TaskRun) => Promise.resolve(void ran.push(name));
    world.add('all', note('all'));
    world.add('nodes', note('nodes'), ['nodes']);
    world.sut.wake('jobs');
    await vi.advanceTimersByTimeAsync(100);
    expect(ran).toEqual(['all']);
    world.sut.wake('nodes');
    await vi.advanceTimersByTimeAsync(100);
    expect(ran).toEqual(['all', 'all', 'nodes']);
    expect(world.sut.periods).toEqual([1000]);
    world.sut.wakePeriodic(1000);
    await settled();
    expect(ran).toEqual(['all', 'all', 'nodes', 'all', 'nodes']);
  });

  it('waits at its end for the runs in progress, and begins no other', async () => {
    let runs = 0;
    const { passed, open } = gate();
    world.add('slow', async () => {
      runs++;
      await passed;
    });
    world.sut.wakeAll();
    world.sut.wakeAll();
    let closed = false;
    const closing = world.sut.close().then(() => (closed = true));
    await settled();
    expect(closed).toBe(false);
    open();
    await closing;
    world.sut.wakeAll();
    await vi.advanceTimersByTimeAsync(1000);
    expect(runs).toBe(1);
  });

  it('shows of each task its last run, what fails, how often in a row and for how long', async () => {
    vi.setSystemTime(1_000_000);
    let isBroken = true;
    world.add('a', async (run) => {
      await new Promise((resolve) => setTimeout(resolve, 7));
      await run.isolated({ node: 'n-1' }, async () => Promise.resolve());
      await run.isolated({ node: 'n-2' }, async () =>
        isBroken ? Promise.reject(new MusterError('TIMEOUT', 'no answer')) : Promise.resolve(),
      );
      // Of the same node: what is well with it elsewhere ends no row of failures.
      await run.isolated({ node: 'n-2' }, async () => Promise.resolve());
    });
    const shown = { name: 'a', watches: [...EVERYTHING], periodMs: 1000, severity: 'warning' };
    expect(world.sut.list()).toEqual([{ ...shown, errors: 0, errorsForMs: 0 }]);
    for (let i = 0; i < 3; i++) {
      world.sut.wakeAll();
      await vi.advanceTimersByTimeAsync(1000);
    }
    const lastError = { at: 1_002_007, code: 'TIMEOUT', message: 'no answer', about: 'node n-2' };
    expect(world.sut.list()).toEqual([
      { ...shown, lastRun: 1_002_000, lastMs: 7, errors: 3, errorsForMs: 2993, lastError },
    ]);
    expect(world.sut.failing()).toEqual(world.sut.list());
    isBroken = false;
    world.sut.wakeAll();
    await vi.advanceTimersByTimeAsync(5);
    expect(world.sut.list()).toMatchObject([{ lastRun: 1_003_000, runningMs: 5, errors: 3 }]);
    await vi.advanceTimersByTimeAsync(995);
    expect(world.sut.list()).toEqual([
      { ...shown, lastRun: 1_003_000, lastMs: 7, errors: 0, errorsForMs: 0, lastError },
    ]);
    expect(world.sut.failing()).toEqual([]);
  });

  it('shows the part that has failed for longest, forgets one that is tried no more, and begins anew each term', async () => {
    let parts: string[] = ['n-1', 'n-2'];
    world.add('a', async (run) => {
      for (const node of parts) await run.isolated({ node }, async () => Promise.reject(new Error('odd')));
    });
    const turn = async (): Promise<void> => {
      world.sut.wakeAll();
      await vi.advanceTimersByTimeAsync(1000);
    };
    await turn();
    parts = ['n-2'];
    await turn();
    expect(world.sut.list()).toMatchObject([{ errors: 1, errorsForMs: 2000, lastError: { about: 'node n-1' } }]);
    for (let i = 0; i < 150; i++) await turn();
    expect(world.sut.list()).toMatchObject([{ errors: 152, lastError: { about: 'node n-2' } }]);
    world.term = 2;
    parts = [];
    await turn();
    const [task] = world.sut.list();
    expect(task).toMatchObject({ errors: 0 });
    expect(task).not.toHaveProperty('lastError');
  });

  it('keeps a part that failed at its pace failed until it is done again', async () => {
    world.add('a', (run) => run.every('look', { everyMs: 60_000 }, async () => Promise.reject(new Error('odd'))));
    for (let at = 0; at < 61; at++) {
      world.sut.wakeAll();
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(world.sut.list()).toMatchObject([{ errors: 2, lastError: { about: 'part look' } }]);
  });

  it('refuses a second task of one name', () => {
    world.add('a', async () => Promise.resolve());
    expect(() => world.add('a', async () => Promise.resolve())).toThrow('two tasks are called a');
  });
});
