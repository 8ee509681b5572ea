import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MOST_UNGATED, ungatedAfter, ungatedText } from './start-gate.js';

const run = (name: string, gated?: boolean) => ({ name, generation: 1, ...(gated !== undefined && { gated }) });

it.each([
  ['has none', undefined, [run('db', true)], undefined],
  ['is told of one', undefined, [run('db', false), run('web', true)], ['db']],
  ['is told of one that is only being started', undefined, [{ ...run('db', false), starting: true as const }], ['db']],
  ['is told of the same', ['db'], [run('db', false)], undefined],
  ['is told that it has its gate now', ['db'], [run('db', true)], []],
  ['is told that it runs no more', ['db'], [], []],
  ['does not know what runs there', ['db'], undefined, undefined],
  ['is told by an agent of before, which does not tell of gates', undefined, [run('db')], undefined],
  ['was told by a newer agent than now', ['db'], [run('db')], undefined],
])('what runs without a gate on a node that %s', (_what, was, workloads, then) => {
  expect(ungatedAfter(was, workloads)).toEqual(then);
});

it('is there exactly where the last list that knew it named one without a gate, whatever came before', () => {
  const runs = fc.array(
    fc.record({ name: fc.constantFrom('a', 'b', 'c'), generation: fc.nat(3), gated: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(fc.option(runs, { nil: undefined }), { maxLength: 8 }), (reports) => {
      let stored: string[] | undefined;
      let last: readonly { name: string; gated: boolean }[] = [];
      for (const workloads of reports) {
        stored = ungatedAfter(stored, workloads) ?? stored;
        last = workloads ?? last;
      }
      const named = [...new Set(last.filter((w) => !w.gated).map((w) => w.name))].sort();
      expect(stored ?? []).toEqual(named);
    }),
  );
});

it('is kept, and told, of many by the first', () => {
  const many = Array.from({ length: 200 }, (_, i) => run(`w${String(i).padStart(3, '0')}`, false));
  expect(ungatedAfter(undefined, many)).toHaveLength(MOST_UNGATED);
  expect(ungatedText(['a'])).toBe("a ran there without Muster's start gate");
  expect(ungatedText(['a', 'b', 'c', 'd', 'e', 'f'])).toContain('e and 1 more ran');
});
