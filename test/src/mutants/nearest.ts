const pairsOf = (text: string): Set<string> =>
  new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => text.slice(i, i + 2).toLowerCase()));

/** 0: nothing in common, 1: the same pairs of letters. */
function likeness(a: string, b: string): number {
  const [x, y] = [pairsOf(a), pairsOf(b)];
  return (2 * [...x].filter((pair) => y.has(pair)).length) / Math.max(1, x.size + y.size);
}

const MOST = 3;
const LEAST_LIKENESS = 0.3;

/** Those that are most like what was looked for, the likest first. */
export const nearest = (wanted: string, all: Iterable<string>): string[] =>
  [...new Set(all)]
    .map((text) => ({ text, like: likeness(wanted, text) }))
    .filter(({ like }) => like >= LEAST_LIKENESS)
    .sort((a, b) => b.like - a.like)
    .slice(0, MOST)
    .map(({ text }) => text);

/** For a message: `; nearest: a | b`, or nothing. */
export const hint = (wanted: string, all: Iterable<string>): string => {
  const found = nearest(wanted, all);
  return found.length === 0 ? '' : `; nearest: ${found.join(' | ')}`;
};
