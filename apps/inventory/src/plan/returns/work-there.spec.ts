import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { WorkloadRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { aNode, aWorkload } from '../../testing/records.js';
import { workThere, type WorkFacts } from './work-there.js';

const node = aNode('a');
const boot = node.bootId ?? '';
const at = { node: 'a', generation: 1 };
/** Ran there before the reboot. */
const db = aWorkload('db', { assignment: at, generation: 1, boot: 'boot-before' });
const word = (...names: string[]): WorkFacts['report'] => ({
  bootId: boot,
  workloads: names.map((name) => ({ name, generation: 1 })),
});
const look = (o: Partial<WorkFacts>): WorkFacts => ({
  node,
  assigned: [db],
  report: word(),
  emptyForMs: 8_000,
  freshness: 2_500,
  ...o,
});
const kind = (o: Partial<WorkFacts>): string => workThere(look(o)).kind;

describe('what a cleanup would end', () => {
  it('is nothing where the node has left out what is assigned to it for longer than any look is old', () => {
    expect(kind({})).toBe('none');
    expect(kind({ emptyForMs: 7_999 })).toBe('unknown');
  });
  it('is what the node names, whoever it is assigned to', () => {
    expect(workThere(look({ report: word('web', 'db') }))).toEqual({ kind: 'runs', workloads: ['db', 'web'] });
    expect(workThere(look({ assigned: [], report: word('web') }))).toEqual({ kind: 'runs', workloads: ['web'] });
  });
  it.each([
    ['a silent node', { report: undefined }],
    ['a node whose lister is broken', { report: { bootId: boot } }],
    ['a node that speaks of another boot', { report: { bootId: 'other', workloads: [] } }],
    [
      'a unit that is being started',
      { report: { bootId: boot, workloads: [{ name: 'db', generation: 1, starting: true as const }] } },
    ],
  ])('is not known of %s', (_what, o) => {
    expect(kind(o)).toBe('unknown');
    expect(kind({ ...o, assigned: [] })).toBe('none');
  });
  it('is what an operator said to run there, which no report has ever named', () => {
    const said: WorkloadRecord = aWorkload('db', {
      assignment: at,
      generation: 1,
      start: { cause: 'put', attempt: 0 },
    });
    expect(kind({ assigned: [said] })).toBe('runs');
    const { start: _seen, ...never } = said;
    expect(kind({ assigned: [never] })).toBe('runs');
    expect(kind({ assigned: [{ ...said, start: { cause: 'incident:i', attempt: 0 } }] })).toBe('none');
  });
  it('is the registry’s word of a node without an agent', () => {
    expect(kind({ node: { ...node, enrolled: false }, report: undefined })).toBe('runs');
  });
  it('is not what was read back as stopped, unless it is named all the same', () => {
    const stopped = aWorkload('db', { assignment: at, generation: 1, desired: 'stopped' });
    expect(kind({ assigned: [stopped], report: undefined })).toBe('none');
    expect(kind({ assigned: [stopped], report: word('db') })).toBe('runs');
  });

  it('is never nothing while something that is assigned there is named, unsaid or only just left out', () => {
    const facts = fc.record({
      node: fc.record({ enrolled: fc.boolean(), bootId: fc.constantFrom('b1', 'b2') }),
      assigned: fc.uniqueArray(
        fc.record({ name: fc.constantFrom('db', 'web'), boot: fc.option(fc.constant('b0'), { nil: undefined }) }),
        { selector: (w) => w.name },
      ),
      report: fc.option(
        fc.record({
          bootId: fc.constantFrom('b1', 'b2'),
          names: fc.option(fc.uniqueArray(fc.constantFrom('db', 'web', 'other')), { nil: undefined }),
          starting: fc.boolean(),
        }),
        { nil: undefined },
      ),
      emptyForMs: fc.nat(20_000),
    });
    fc.assert(
      fc.property(facts, (f) => {
        const said = f.report?.names?.map((name) => ({
          name,
          generation: 1,
          ...(f.report?.starting && { starting: true as const }),
        }));
        const result = workThere({
          node: f.node,
          assigned: f.assigned.map(({ name, boot: seen }) =>
            aWorkload(name, { assignment: at, generation: 1, ...(seen !== undefined && { boot: seen }) }),
          ),
          report: f.report && { bootId: f.report.bootId, ...(said && { workloads: said }) },
          emptyForMs: f.emptyForMs,
          freshness: 2_500,
        });
        if (result.kind !== 'none') return;
        expect(f.report?.starting === true || (said ?? []).length === 0).toBe(true);
        if (f.assigned.length === 0) return;
        expect(f.node.enrolled).toBe(true);
        expect(said).toEqual([]);
        expect(f.report?.bootId).toBe(f.node.bootId);
        expect(f.emptyForMs).toBeGreaterThanOrEqual(8_000);
        expect(f.assigned.every((w) => w.boot !== undefined)).toBe(true);
      }),
      { numRuns: runs(1000) },
    );
  });
});
