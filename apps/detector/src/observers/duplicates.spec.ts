import { describe, expect, it } from 'vitest';
import { DetectionProfiles, type Report } from '#contracts';
import { isDuplicated } from './duplicates.js';
import { ReportBook, type Heard } from './report-book.js';

const n = DetectionProfiles.lan;
const heard = (node: string, warnings: string[], over: Partial<Report> = {}): Heard => {
  const book = new ReportBook();
  const health = { abstain: false, sendErrors: {}, loopGapMs: 1, warnings };
  const base = { v: 1 as const, node, bootId: 'b', epoch: 1, seq: 1, listVersion: 1, networks: ['backend'], peers: [] };
  book.hear({ ...base, health, ...over }, 0, n);
  return book.of(node) as Heard;
};
const calm = (node: string): Heard => heard(node, []);
const sees = (node: string, name = 'a'): Heard => heard(node, [`duplicate: two machines speak as ${name}`]);
const twice = (own: Heard | undefined, observers: (Heard | undefined)[], now = 100): boolean => {
  const known = new Map(observers.map((h, i) => [h?.report.node ?? `unheard-${i}`, h]));
  return isDuplicated('a', [...known.keys()], (name) => (name === 'a' ? own : known.get(name)), now, n);
};

describe('two machines under one name on the wire', () => {
  it('are seen by the node itself, or by two of its observers', () => {
    expect(twice(heard('a', ['duplicate: another machine speaks as a']), [calm('b'), calm('c')])).toBe(true);
    expect(twice(calm('a'), [sees('b'), sees('c'), calm('d')])).toBe(true);
    expect(twice(calm('a'), [sees('b')])).toBe(true);
  });

  it('are not taken for that by the word of one of several, about another name, or too old', () => {
    expect(twice(calm('a'), [sees('b'), calm('c')])).toBe(false);
    expect(twice(calm('a'), [sees('b', 'aa'), sees('c', 'aa')])).toBe(false);
    expect(twice(undefined, [sees('b'), sees('c')], n.freshness + 1)).toBe(false);
    expect(twice(undefined, [undefined])).toBe(false);
    expect(twice(undefined, [])).toBe(false);
  });
});
