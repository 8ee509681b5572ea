import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Report, WorkloadRecord } from '#contracts';
import { aWorkload } from '../../testing/records.js';
import { doubleAlarms, doublesOf, settledOn, type Double } from './doubles.js';

type Fresh = Parameters<typeof doublesOf>[1];
const doubles = (workloads: readonly WorkloadRecord[], fresh: Fresh): Double[] =>
  doublesOf(new Map(workloads.flatMap(settledOn)), fresh);

describe('a workload that runs where it is not assigned', () => {
  const db = aWorkload('db', { generation: 3, assignment: { node: 'b', generation: 3 } });
  const reports = [
    { node: 'a', workloads: [{ name: 'db', generation: 1 }] },
    { node: 'b', workloads: [{ name: 'db', generation: 3 }] },
    { node: 'c' },
  ];

  it('is found by the report of whoever runs it', () => {
    expect(doubles([db], reports)).toEqual([{ workload: 'db', on: 'a', assigned: 'b', starting: false }]);
  });
  it('is told from one whose gate has not answered yet', () => {
    const booted = [{ node: 'a', workloads: [{ name: 'db', generation: 1, starting: true as const }] }];
    expect(doubles([db], booted)).toEqual([{ workload: 'db', on: 'a', assigned: 'b', starting: true }]);
  });
  it('is not what runs where it belongs, nor what is looked at before its start', () => {
    expect(doubles([db], reports.slice(1))).toEqual([]);
    expect(doubles([{ ...db, start: { cause: 'x', attempt: 0 } }], reports)).toEqual([]);
  });

  it('is one alarm, however many nodes it is on', () => {
    const on = (node: string, starting: boolean): Double => ({ workload: 'db', on: node, assigned: 'b', starting });
    expect(doubleAlarms([on('a', false)]).map((a) => a.message)).toEqual([
      'It runs on a while it is assigned to b: end it on one of them by hand.',
    ]);
    expect(doubleAlarms([on('a', false), on('c', true)]).map((a) => a.message)).toEqual([
      'It runs on a and is being started on c while it is assigned to b: end it on all but one of them by hand.',
    ]);
  });

  it('is the same as by comparing each workload with each report', () => {
    fc.assert(
      fc.property(fc.uniqueArray(workload, { selector: (w) => w.name }), fleet, (workloads, fresh) => {
        expect(doubles(workloads, fresh)).toEqual(each(workloads, fresh));
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads each report once, however many workloads there are', () => {
    let reads = 0;
    const fresh = Array.from({ length: 50 }, (_, n) => ({
      node: `n-${n}`,
      get workloads() {
        reads += 1;
        return [{ name: `w-${n}`, generation: 1 }];
      },
    }));
    const workloads = Array.from({ length: 50 }, (_, n) =>
      aWorkload(`w-${n}`, { generation: 1, assignment: { node: 'elsewhere', generation: 1 } }),
    );
    expect(doubles(workloads, fresh)).toHaveLength(50);
    expect(reads).toBe(fresh.length);
  });
});

type FreshReport = Pick<Report, 'node' | 'workloads'>;

/** By definition; its cost is workloads × reports. */
const each = (workloads: readonly WorkloadRecord[], fresh: readonly FreshReport[]): Double[] =>
  workloads.flatMap((w) => {
    const at = w.assignment?.node;
    if (at === undefined || w.start !== undefined) return [];
    return fresh.flatMap((r) => {
      const run = r.node === at ? undefined : r.workloads?.find(({ name }) => name === w.name);
      return run === undefined ? [] : [{ workload: w.name, on: r.node, assigned: at, starting: run.starting === true }];
    });
  });

const names = fc.constantFrom('db', 'web', 'mail', 'toString', '__proto__');
const nodes = fc.constantFrom('a', 'b', 'c', 'd');
const workload = fc
  .record({ name: names, node: fc.option(nodes, { nil: undefined }), owed: fc.boolean() })
  .map(({ name, node, owed }) =>
    aWorkload(name, {
      generation: 1,
      ...(node !== undefined && { assignment: { node, generation: 1 } }),
      ...(owed && { start: { cause: 'x', attempt: 0 } }),
    }),
  );
const run = fc
  .record({ name: names, starting: fc.boolean() })
  .map(({ name, starting }) => ({ name, generation: 1, ...(starting && { starting: true as const }) }));
const fleet = fc.uniqueArray(
  fc
    .record({ node: nodes, workloads: fc.option(fc.array(run), { nil: undefined }) })
    .map(({ node, workloads }): FreshReport => ({ node, ...(workloads !== undefined && { workloads }) })),
  { selector: (r) => r.node },
);
