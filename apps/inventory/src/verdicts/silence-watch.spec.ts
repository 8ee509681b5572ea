import { expect, it } from 'vitest';
import { STORM_NEWS_MS, type Beacon } from '#contracts';
import { StormNumbers } from '#domain/incident/storm-counts.js';
import { SilenceWatch, type SilentSince } from './silence-watch.js';

const calls = (...silent: string[]): Pick<Beacon, 'sighted' | 'notUp'> => ({
  sighted: true,
  notUp: {
    well: { verdict: 'DEGRADED', seq: 1 },
    ...Object.fromEntries(silent.map((node, n) => [node, { verdict: n % 2 === 0 ? 'SUSPECT' : 'DOWN', seq: 1 }])),
  },
});

/** A watch, and the time at which it hears and is asked. */
function watchAt(): {
  hear(of: Parameters<SilenceWatch['hear']>[0], now: number): void;
  together: (now: number) => readonly SilentSince[];
} {
  let at = 0;
  const watch = new SilenceWatch({ monotonicMs: () => at });
  return {
    hear: (of, now) => {
      at = now;
      watch.hear(of);
    },
    together: (now) => {
      at = now;
      return watch.together();
    },
  };
}
const named = (watch: ReturnType<typeof watchAt>, now: number): string[] => watch.together(now).map((s) => s.node);

it('knows the most that were silent at the same moment, for a while', () => {
  const watch = watchAt();
  watch.hear(calls('a'), 0);
  watch.hear(calls('a', 'b', 'c'), 1_000);
  watch.hear(calls('c', 'd'), 2_000);
  expect(watch.together(2_000)).toEqual([
    { node: 'a', since: 0 },
    { node: 'b', since: 1_000 },
    { node: 'c', since: 1_000 },
  ]);
  watch.hear(calls('d'), 3_000);
  expect(named(watch, 999 + STORM_NEWS_MS)).toEqual(['a', 'b', 'c']);
  watch.hear(calls('d'), 1_000 + STORM_NEWS_MS);
  expect(named(watch, 1_000 + STORM_NEWS_MS)).toEqual(['d']);
});

it('takes a word without quorum for none', () => {
  const watch = watchAt();
  watch.hear({ ...calls('a', 'b', 'c'), sighted: false }, 0);
  expect(named(watch, 0)).toEqual([]);
});

it('does not count who waits for spare parts', () => {
  const watch = watchAt();
  watch.hear(calls('old'), 0);
  watch.hear(calls('old', 'a'), StormNumbers.candidateWindow);
  expect(named(watch, StormNumbers.candidateWindow)).toEqual(['a']);
});
