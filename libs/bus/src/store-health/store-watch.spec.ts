import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Bus } from '../bus.js';
import type { StoreFacts } from './store-health.js';
import { StoreWatch } from './store-watch.js';

let now: number;
let tick: () => void;
let answers: ((there: boolean) => void)[];
let watch: StoreWatch;
let dir: string;
/** Of each look, in order. */
let facts: StoreFacts[];
let looked: () => void;

beforeEach(() => {
  now = 0;
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
  const hasStream = () => new Promise<boolean>((resolve) => answers.push(resolve));
  const bus = { connected: true, clock, hasStream, log: { debug: () => undefined } } as unknown as Bus;
  watch = new StoreWatch(bus, { path: dir, streams: ['A'], onLook: (f) => (facts.push(f), looked()) });
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

describe('a store that does not answer', () => {
  it('is silent since the first question without an answer', async () => {
    await lookAt(0, () => watch.start());
    expect((await lookAt(1_000)).silentForMs).toBe(1_000);
    expect((await lookAt(2_000)).silentForMs).toBe(2_000);
  });

  it('is not called silent for a time in which we stood still ourselves: its answer may lie unread', async () => {
    await lookAt(0, () => watch.start());
    expect((await lookAt(20_000)).silentForMs).toBe(0);
    expect((await lookAt(21_000)).silentForMs).toBe(1_000);
  });
});

describe('a disk that does not answer', () => {
  const asked = () => process.getActiveResourcesInfo().filter((kind) => kind === 'FSReqPromise').length;

  it('is asked once, and not once a second', async () => {
    const before = asked();
    const first = lookAt(0, () => watch.start());
    tick();
    tick();
    expect(asked() - before).toBe(1);
    await first;
  });
});
