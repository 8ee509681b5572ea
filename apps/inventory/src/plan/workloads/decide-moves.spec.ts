import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { WorkloadRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { workloadAfter } from '#domain/workload/changes.js';
import { LEFT_OUT_MS } from '#domain/workload/failed-starts.js';
import type { CandidateNode } from '#domain/workload/placement.js';
import { askStartGate } from '#domain/workload/start-decision.js';
import type { Unheard } from '#domain/workload/where-it-runs.js';
import { aNode, aWorkload } from '../../testing/records.js';
import { beginning, decideMoves, MOVES_AT_ONCE, notEmptyBecause, type MoveFacts } from './decide-moves.js';

const NOW = 1_700_000_000_000;
const NOBODY = { silent: [], named: [], ungated: [] };
const host = (name: string, o: Partial<CandidateNode> = {}): CandidateNode => ({
  name,
  capacity: 100,
  used: 0,
  reserve: false,
  ...o,
});
const on = (name: string, node: string, o: Partial<WorkloadRecord> = {}): WorkloadRecord =>
  aWorkload(name, { generation: 1, assignment: { node, generation: 1 }, ...o });
const facts = (workloads: WorkloadRecord[], o: Partial<MoveFacts> = {}): MoveFacts => ({
  leaving: new Map([['a', 'drain']]),
  workloads,
  candidates: [host('a', { out: 'cordoned' }), host('b'), host('c')],
  reported: (node) => new Set(workloads.filter((w) => w.assignment?.node === node).map((w) => w.name)),
  isInIncident: () => false,
  unheard: () => NOBODY,
  now: NOW,
  ...o,
});
const begun = (f: MoveFacts): string[] => decideMoves(f).begin.map((b) => `${b.workload}→${b.move.to}`);
const stuck = (f: MoveFacts, node = 'a'): string => (decideMoves(f).stuck.get(node) ?? []).join(' ');
const moving = (name: string, o: Partial<WorkloadRecord> = {}): WorkloadRecord =>
  on(name, 'a', { move: { cause: 'drain', from: 'a', to: 'b' }, stop: { cause: 'move:drain', attempt: 0 }, ...o });

describe('a workload that its node does not get started', () => {
  const failing = (attempt: number, o: Partial<WorkloadRecord> = {}): WorkloadRecord =>
    on('db', 'b', { start: { cause: 'incident:1', attempt }, held: 'no such unit', ...o });
  const well = (w: WorkloadRecord): MoveFacts =>
    facts([w], { leaving: new Map(), candidates: [host('a'), host('b'), host('c', { used: 5 })] });

  it('is taken from there after three tries, and from none that tries it now', () => {
    expect(begun(well(failing(2)))).toEqual([]);
    expect(begun(well(failing(3)))).toEqual(['db→a']);
    expect(begun(well(failing(3, { start: { cause: 'x', attempt: 3, job: 'j' } })))).toEqual([]);
    const [begin] = decideMoves(well(failing(3))).begin;
    expect(begin && workloadAfter(failing(3), beginning(begin, NOW))).toMatchObject({
      stop: { cause: 'move:start-failed' },
      move: { from: 'b', to: 'a' },
      failedOn: [{ node: 'b', at: NOW }],
    });
  });

  it('goes to none that has failed it in the last half hour, and stays where all have', () => {
    const before = (...nodes: string[]): Partial<WorkloadRecord> => ({
      failedOn: nodes.map((node) => ({ node, at: NOW - LEFT_OUT_MS + 1 })),
    });
    expect(begun(well(failing(3, before('a'))))).toEqual(['db→c']);
    expect(begun(well(failing(3, before('a', 'c'))))).toEqual([]);
    expect(stuck(well(failing(3, before('a', 'c'))), 'b')).toBe('');
    const long = { failedOn: [{ node: 'a', at: NOW - LEFT_OUT_MS }] };
    expect(begun(well(failing(3, long)))).toEqual(['db→a']);
  });

  it('stays where its node does not say what it runs, or has an incident', () => {
    expect(begun({ ...well(failing(3)), reported: () => undefined })).toEqual([]);
    expect(begun({ ...well(failing(3)), isInIncident: (n) => n === 'b' })).toEqual([]);
  });

  it('leaves a node that is drained as all else does', () => {
    const f = { ...well(failing(3)), leaving: new Map([['b', 'drain']]) };
    expect(decideMoves(f).begin).toMatchObject([{ move: { cause: 'drain' } }]);
  });
});

describe('which workloads begin to leave a node', () => {
  it('are taken by priority, one at a time', () => {
    const all = [on('low', 'a'), on('high', 'a', { priority: 9 }), on('other', 'b')];
    expect(begun(facts(all))).toEqual(['high→b']);
    expect(begun(facts([moving('high'), on('low', 'a')]))).toEqual([]);
    const arriving = aWorkload('high', { move: { cause: 'drain', from: 'a', to: 'b' } });
    expect(begun(facts([arriving, on('low', 'a')]))).toEqual([]);
  });

  it('are also those that another move has only just sent there: they would never be started', () => {
    const arriving = on('db', 'a', {
      move: { cause: 'drain', from: 'c', to: 'a' },
      start: { cause: 'move', attempt: 0 },
    });
    const f = facts([arriving], { candidates: [host('a'), host('b', { used: 9 }), host('c', { out: 'cordoned' })] });
    const [begin] = decideMoves(f).begin;
    expect(begin).toMatchObject({ workload: 'db', move: { from: 'a', to: 'b' } });
    const sent = begin && workloadAfter(arriving, beginning(begin, NOW));
    expect(sent).toMatchObject({ stop: { attempt: 0 }, move: { from: 'a' } });
    expect(sent && decideMoves(facts([sent])).begin).toEqual([]);
  });

  it('do not wait for one whose stop or start failed again and again; that one is told', () => {
    const bad = moving('bad', { stop: { cause: 'move:drain', attempt: 3, why: 'it hangs.' } });
    expect(begun(facts([bad, on('low', 'a')]))).toEqual(['low→b']);
    expect(stuck(facts([bad, on('low', 'a')]))).toContain('bad: Its stop on a failed 3 time(s). it hangs.');
  });

  it('do not wait for moves elsewhere that wait for something themselves: a dead node, or room', () => {
    const dead = Array.from({ length: MOVES_AT_ONCE }, (_, i) =>
      on(`dead-${i}`, `d-${i}`, {
        move: { cause: 'drain', from: `d-${i}`, to: 'b' },
        stop: { cause: 'move:drain', attempt: 0 },
      }),
    );
    const leaving = new Map(['a', ...dead.map((_, i) => `d-${i}`)].map((n) => [n, 'drain'] as const));
    const silent = (node: string) => (node.startsWith('d-') ? undefined : new Set(['low']));
    expect(begun(facts([...dead, on('low', 'a')], { leaving, reported: silent }))).toEqual(['low→b']);
    expect(begun(facts([...dead, on('low', 'a')], { leaving, reported: () => new Set(['low']) }))).toEqual([]);
    const roomless = dead.map((w) => aWorkload(w.name, { held: 'No room.', ...(w.move && { move: w.move }) }));
    expect(begun(facts([...roomless, on('low', 'a')], { leaving }))).toEqual(['low→b']);
    expect(begun(facts([...roomless, on('low', 'd-0')], { leaving }))).toEqual([]);
  });

  it('stay where they are without room, while the smaller ones go', () => {
    const f = facts([on('big', 'a', { weight: 50, priority: 1 }), on('small', 'a')], {
      candidates: [host('a', { out: 'cordoned' }), host('b', { capacity: 1 })],
    });
    expect(begun(f)).toEqual(['small→b']);
    expect(stuck(f)).toContain('big: No room');
  });

  it('hinder nothing that is empty: one that left and has no place elsewhere keeps only what is behind it', () => {
    const left = aWorkload('left', { held: 'No room.', move: { cause: 'drain', from: 'a', to: 'b' } });
    expect(stuck(facts([left]))).toBe('');
    expect(stuck(facts([left, on('low', 'a')]))).toBe('left: No room.');
    const fails = { ...left, assignment: { node: 'b', generation: 2 }, start: { cause: 'move:drain', attempt: 1 } };
    expect(stuck(facts([fails]))).toBe('');
    expect(stuck(facts([fails, on('low', 'a')]))).toContain('left: Its start on b failed 1 time(s). No room.');
  });

  it('are never so many that recoveries would have to wait', () => {
    const nodes = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
    const f = facts(
      nodes.map((n) => on(`w-${n}`, n)),
      { leaving: new Map(nodes.map((n) => [n, 'drain'])), candidates: [host('b')] },
    );
    expect(begun(f)).toHaveLength(MOVES_AT_ONCE);
  });

  it('stay while their node has an incident, or is silent, or somebody does not say what runs there', () => {
    const all = [on('db', 'a')];
    for (const [o, why] of [
      [{ isInIncident: () => true }, 'open incident'],
      [{ reported: () => undefined }, 'does not say what it runs'],
      [{ unheard: () => ({ silent: ['c'], named: [], ungated: [] }) }, 'c must say what they run'],
    ] as const) {
      expect(begun(facts(all, o))).toEqual([]);
      expect(stuck(facts(all, o))).toContain(why);
    }
  });

  it('stay one by one: somebody who does not say what runs there may have been given one of them, and not another', () => {
    const unheard = (workload: string): Unheard =>
      workload === 'db' ? { silent: ['c'], named: [], ungated: [] } : NOBODY;
    const f = facts([on('db', 'a'), on('web', 'a')], { unheard });
    expect(begun(f)).toEqual(['web→b']);
    expect(stuck(f)).toContain('c must say what they run');
  });

  it('are told of when their node falls silent in the middle: a cordoned one is not fenced by itself', () => {
    expect(stuck(facts([moving('db')], { reported: () => undefined }))).toContain('db: Its node does not say');
    expect(stuck(facts([moving('db')]))).toBe('');
  });

  it('are only let go of where they shall not run, and the node agrees', () => {
    const w = on('db', 'a', { desired: 'stopped' });
    expect(decideMoves(facts([w], { reported: () => new Set() }))).toMatchObject({
      begin: [],
      release: [{ workload: 'db', node: 'a' }],
    });
    expect(decideMoves(facts([w])).release).toEqual([]);
    const owed = { ...w, stop: { cause: 'put', attempt: 0 } };
    expect(decideMoves(facts([owed], { reported: () => new Set() })).release).toEqual([]);
  });
});

describe('a node is empty', () => {
  it('when registry and report agree; of one that is off the registry is enough', () => {
    const n = aNode('a');
    expect(notEmptyBecause(n, [on('db', 'b')], new Set())).toBeUndefined();
    expect(notEmptyBecause(n, [on('db', 'a')], new Set())).toContain('db');
    expect(notEmptyBecause(n, [], new Set(['db']))).toContain('reports db');
    expect(notEmptyBecause(n, [], undefined)).toContain('does not say');
    expect(notEmptyBecause({ ...n, confirmedOff: { at: 1, incident: 'i' } }, [], undefined)).toBeUndefined();
  });
});

/**
 * Three machines as they really are, and every order of the world: jobs that are carried out late, twice, or never,
 * reports of before, nodes that are drained and given back, that are fenced and boot again. What a node does rests on its
 * gate and its lock alone.
 */
/** Drained; stopped; the start of before carried out after that stop; left, placed, started. */
const orderOfBefore: [number, number][] = [
  [0, 0],
  [4, 0],
  [5, 0],
  [7, 0],
  [7, 1],
  [8, 0],
  [10, 0],
  [6, 0],
  [7, 0],
];

describe('a workload that moves', () => {
  it('never runs on two nodes at once, whatever is late', () => {
    const names = ['a', 'b', 'c'];
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.array(fc.tuple(fc.nat(12), fc.nat(2)), { minLength: 100, maxLength: 200 }),
        (runsYet, steps) => {
          // Running, or handed to a job that has not begun: an order of before the move.
          let w: WorkloadRecord = runsYet
            ? on('db', 'a')
            : on('db', 'a', { start: { cause: 'spec', attempt: 0, job: 'j0' } });
          const runs = new Map([['a', runsYet]]);
          const locks = new Map([['a', 1]]);
          const drained = new Set<string>();
          const told = new Map<string, boolean>();
          const jobs: { node: string; generation: number; stop: boolean; id: string; done?: boolean }[] = runsYet
            ? []
            : [{ id: 'j0', node: 'a', generation: 1, stop: false }];
          const write = (next: WorkloadRecord | undefined): void => {
            if (next !== undefined) w = next;
          };
          const candidates = (): CandidateNode[] =>
            names.map((n) => host(n, drained.has(n) ? { out: 'cordoned' } : {}));
          const report = (n: string): void => void told.set(n, runs.get(n) === true);
          names.forEach(report);
          for (const [op, k] of steps) {
            const n = names[k] as string;
            const at = w.assignment;
            const job = jobs[jobs.length - 1 - k];
            if (op === 0) drained.add(n);
            else if (op === 1) drained.delete(n);
            else if (op <= 3) report(n);
            else if (op === 4) {
              const plan = decideMoves({
                leaving: new Map([...drained].map((d) => [d, 'drain'])),
                workloads: [w],
                candidates: candidates(),
                reported: (x) => new Set(told.get(x) === true ? ['db'] : []),
                isInIncident: () => false,
                unheard: () => NOBODY,
                now: NOW,
              });
              for (const b of plan.begin) write(workloadAfter(w, beginning(b, NOW)));
            } else if (op === 5 && at !== undefined && w.stop?.job === undefined && w.stop !== undefined) {
              const id = `j${jobs.length}`;
              write(workloadAfter(w, { kind: 'stop-given', job: id, generation: at.generation }));
              jobs.push({ id, node: at.node, generation: at.generation, stop: true });
            } else if (op === 6 && at !== undefined && w.start !== undefined && w.start.job === undefined) {
              const elsewhere = names.find((x) => x !== at.node && told.get(x) === true);
              if (elsewhere !== undefined && w.move?.from !== elsewhere)
                write(
                  workloadAfter(w, { kind: 'corrected', seenOn: elsewhere, generation: w.generation, followed: 0 }),
                );
              else if (elsewhere === undefined) {
                const id = `j${jobs.length}`;
                write(workloadAfter(w, { kind: 'start-given', job: id, generation: at.generation }));
                jobs.push({ id, node: at.node, generation: at.generation, stop: false });
              }
            } else if (op === 7 && job !== undefined) {
              // On the node: its lock refuses what is older, its gate what is not the registry's will.
              if (job.generation < (locks.get(job.node) ?? 0)) continue;
              locks.set(job.node, job.generation);
              if (job.stop) runs.set(job.node, false);
              else {
                const gate = askStartGate({
                  node: job.node,
                  workload: w,
                  record: aNode(job.node),
                  incident: undefined,
                  boot: `boot-${job.node}`,
                  barred: undefined,
                  seenOn: undefined,
                });
                if (gate.allowed && gate.generation === job.generation) runs.set(job.node, true);
              }
              job.done = true;
            } else if (op === 8 && at !== undefined && w.stop?.job !== undefined) {
              const own = jobs.find((j) => j.id === w.stop?.job);
              if (own?.done === true && told.get(at.node) === false)
                write(workloadAfter(w, { kind: 'left', generation: at.generation }));
            } else if (op === 9 && w.stop?.job !== undefined)
              write(workloadAfter(w, { kind: 'stop-failed', job: w.stop.job, why: 'spec' }));
            else if (op === 10 && at === undefined && w.desired === 'running') {
              const to = candidates().find((h) => h.out === undefined)?.name;
              if (to !== undefined)
                write(workloadAfter(w, { kind: 'assigned', to, cause: 'spec', generation: w.generation }));
            } else if (op === 11 && at !== undefined && w.start?.job !== undefined) {
              const own = jobs.find((j) => j.id === w.start?.job);
              write(
                own?.done === true && runs.get(at.node) === true
                  ? workloadAfter(w, { kind: 'started', generation: at.generation, boot: 'boot' })
                  : workloadAfter(w, { kind: 'start-failed', job: w.start.job, why: 'spec' }),
              );
            } else if (op === 12 && at?.node === n) {
              // Its power is proven off: what ran there is gone, and the registry takes it away.
              runs.set(n, false);
              report(n);
              write(workloadAfter(w, { kind: 'cleared', from: n }));
            }
            expect(names.filter((x) => runs.get(x) === true).length).toBeLessThanOrEqual(1);
          }
        },
      ),
      { numRuns: runs(200), examples: [[false, orderOfBefore]] },
    );
  });
});
