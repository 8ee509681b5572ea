import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aWorkload } from '#contracts/testing/a-workload.js';
import { isStoppedThere, mayStartByItself, MOST_UNGATED, ungatedAfter, ungatedText } from './ungated.js';

const run = (name: string, gated?: boolean) => ({ name, generation: 1, ...(gated !== undefined && { gated }) });
const never = (): boolean => false;

it.each([
  ['has none', undefined, [run('db', true)], undefined],
  ['is told of one', undefined, [run('db', false), run('web', true)], ['db']],
  ['is told of one that is only being started', undefined, [{ ...run('db', false), starting: true as const }], ['db']],
  ['is told of the same', ['db'], [run('db', false)], undefined],
  ['is told that it has its gate now', ['db'], [run('db', true)], []],
  ['is not told of it any more, since it has crashed', ['db'], [], undefined],
  ['is told of another one besides, since it has crashed', ['db'], [run('app', false)], ['app', 'db']],
  ['does not know what runs there', ['db'], undefined, undefined],
  ['is told by an agent of before, which does not tell of gates', undefined, [run('db')], ['db']],
  ['was told by a newer agent than now', ['db'], [run('db')], undefined],
])('what a boot may start without asking on a node that %s', (_what, was, workloads, then) => {
  expect(ungatedAfter(was, workloads, never)).toEqual(then);
});

it('is not what is over there, unless it is reported', () => {
  expect(ungatedAfter(['db', 'web'], [], (name) => name === 'db')).toEqual(['web']);
  expect(ungatedAfter(['db'], [run('db', false)], () => true)).toBeUndefined();
});

it('is what the last list that named it did not vouch for, however many came after without it', () => {
  const runs = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      generation: fc.nat(3),
      gated: fc.option(fc.boolean(), { nil: undefined }),
    }),
    { selector: (w) => w.name },
  );
  fc.assert(
    fc.property(fc.array(fc.option(runs, { nil: undefined }), { maxLength: 8 }), (reports) => {
      let stored: string[] | undefined;
      const last = new Map<string, boolean | undefined>();
      for (const list of reports) {
        const workloads = list?.map(({ gated, ...w }) => ({ ...w, ...(gated !== undefined && { gated }) }));
        stored = ungatedAfter(stored, workloads, never) ?? stored;
        for (const w of list ?? []) last.set(w.name, w.gated);
      }
      const named = [...last].flatMap(([name, gated]) => (gated === true ? [] : [name])).sort();
      expect(stored ?? []).toEqual(named);
    }),
  );
});

it('is kept, and told, of many by the first', () => {
  const many = Array.from({ length: 200 }, (_, i) => run(`w${String(i).padStart(3, '0')}`, false));
  expect(ungatedAfter(undefined, many, never)).toHaveLength(MOST_UNGATED);
  expect(ungatedText(['a'])).toBe("a ran there without Muster's start gate");
  expect(ungatedText(['a', 'b', 'c', 'd', 'e', 'f'])).toContain('e and 1 more ran');
});

it('may be any workload where as many are kept as can be', () => {
  expect(mayStartByItself({}, 'db')).toBe(false);
  expect(mayStartByItself({ ungated: ['db'] }, 'db')).toBe(true);
  expect(mayStartByItself({ ungated: ['web'] }, 'db')).toBe(false);
  expect(mayStartByItself({ ungated: Array.from({ length: MOST_UNGATED }, (_, i) => `w${i}`) }, 'db')).toBe(true);
});

describe('a boot of a node does not start', () => {
  const at = { assignment: { node: 'a', generation: 2 }, generation: 2 };
  const stopped = (w: Partial<Parameters<typeof aWorkload>[1]>, isReadBack = true): boolean =>
    isStoppedThere(aWorkload('db', { ...at, ...w }), 'a', () => isReadBack);
  const owed = { cause: 'put', attempt: 0 };
  const event = { recovery: { driver: 'event', spec: {} } };

  it('what Muster has stopped there, once that was read back', () => {
    expect(stopped({ desired: 'stopped' })).toBe(true);
    expect(stopped({ desired: 'stopped', stop: { ...owed, job: 'j' } })).toBe(true);
    expect(stopped({ stop: { ...owed, job: 'j' }, move: { cause: 'drain', from: 'a', to: 'b' } })).toBe(true);
  });

  it('but what shall run, or was not stopped yet, or elsewhere, or by another tool', () => {
    expect(stopped({})).toBe(false);
    expect(stopped({ desired: 'stopped', stop: owed })).toBe(false);
    expect(stopped({ desired: 'stopped', stop: { ...owed, job: 'j' } }, false)).toBe(false);
    expect(stopped({ desired: 'stopped', assignment: { node: 'b', generation: 2 } })).toBe(false);
    expect(stopped({ desired: 'stopped', ...event })).toBe(false);
  });
});
