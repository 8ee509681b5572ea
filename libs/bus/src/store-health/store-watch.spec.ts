import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus } from '../bus/bus.js';
import type { StoreFacts } from './store-health.js';
import { StoreWatch } from './store-watch.js';

let now: number;
let tick: () => void;
let bus: { connected: boolean };
/** Streams that were asked for, and how each question is answered. */
let asked: string[];
let answers: ((there: boolean) => void)[];
let watch: StoreWatch;
let dir: string;
/** Of each look, in order. */
let facts: StoreFacts[];
let looked: () => void;

beforeEach(() => {
  now = 0;
  asked = [];
  answers = [];
  facts = [];
  dir = mkdtempSync(join(tmpdir(), 'muster-store-'));
  const clock = {
    monotonicMs: () => now,
    every: (_ms: number, fn: () => void) => {
      tick = fn;
      return { cancel: () => undefined };
    },
  };
  const hasStream = (name: string) => {
    asked.push(name);
    return new Promise<boolean>((resolve) => answers.push(resolve));
  };
  bus = { connected: true, ...{ clock, hasStream, log: { debug: () => undefined } } };
  watch = new StoreWatch(bus as unknown as Bus, {
    path: dir,
    streams: ['A', 'B'],
    onChecked: (f) => (facts.push(f), looked()),
  });
});
afterEach(() => {
  watch.close();
  rmSync(dir, { recursive: true });
});

/** The look at this moment, ms. */
async function lookAt(at: number, begin: () => void = tick): Promise<StoreFacts> {
  now = at;
  const over = new Promise<void>((resolve) => (looked = resolve));
  begin();
  await over;
  return facts.at(-1) as StoreFacts;
}

/** The one question that is open. */
async function answer(there: boolean): Promise<void> {
  answers.at(-1)?.(there);
  // The watch reads it in promises of its own.
  await new Promise(setImmediate);
}

describe('a store that answers', () => {
  it('is asked for each stream in its turn, and never silent', async () => {
    await lookAt(0, () => watch.start());
    for (const at of [1_000, 2_000, 3_000]) {
      await answer(true);
      expect((await lookAt(at)).silentForMs).toBe(0);
    }
    expect(asked).toEqual(['A', 'B', 'A', 'B']);
  });

  it('was whole when each stream was there, and keeps that when one is missing', async () => {
    await lookAt(0, () => watch.start());
    const seen: (boolean | number)[] = [];
    for (const [at, there] of [true, true, true, false, true, false].entries()) {
      await answer(there);
      const { wasWhole, missing, missingForMs } = await lookAt((at + 1) * 1_000);
      seen.push(wasWhole, missing.length, missingForMs);
    }
    expect(seen).toEqual([
      ...[false, 0, 0, true, 0, 0, true, 0, 0],
      // Missing since the look before.
      ...[true, 1, 1_000, true, 1, 2_000, true, 1, 3_000],
    ]);
  });

  it('was never whole while one of its streams has been missing', async () => {
    await lookAt(0, () => watch.start());
    for (const at of [1, 2, 3, 4]) {
      await answer(at % 2 === 0);
      expect(await lookAt(at * 1_000)).toMatchObject({ wasWhole: false, missing: ['A'] });
    }
  });
});

describe('a store that does not answer', () => {
  it('is silent since the first question without an answer', async () => {
    await lookAt(0, () => watch.start());
    expect((await lookAt(1_000)).silentForMs).toBe(1_000);
    expect((await lookAt(2_000)).silentForMs).toBe(2_000);
    // One question at a time.
    expect(asked).toEqual(['A']);
  });

  it('is silent for no time in which there was no connection', async () => {
    await lookAt(0, () => watch.start());
    bus.connected = false;
    expect((await lookAt(1_000)).silentForMs).toBe(0);
    bus.connected = true;
    expect((await lookAt(2_000)).silentForMs).toBe(0);
    expect((await lookAt(3_000)).silentForMs).toBe(1_000);
  });

  it('is not called silent for a time in which we stood still ourselves: its answer may lie unread', async () => {
    await lookAt(0, () => watch.start());
    expect((await lookAt(20_000)).silentForMs).toBe(0);
    expect((await lookAt(21_000)).silentForMs).toBe(1_000);
  });
});

describe('a disk that does not answer', () => {
  const reads = () => process.getActiveResourcesInfo().filter((kind) => kind === 'FSReqPromise').length;

  it('is asked once, and not once a second', async () => {
    const before = reads();
    const first = lookAt(0, () => watch.start());
    tick();
    tick();
    expect(reads() - before).toBe(1);
    await first;
  });
});
