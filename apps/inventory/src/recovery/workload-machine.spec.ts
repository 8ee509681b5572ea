import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { GateAnswer, WorkloadRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { aNode, aWorkload } from '../testing/records.js';
import { checkStart, mustAnswer } from './start-check.js';
import { askStartGate } from './start-gate.js';
import {
  assigned,
  cleared,
  corrected,
  ended,
  handedTo,
  heldBecause,
  isSettledRecovery,
  left,
  lost,
  moveOrdered,
  moved,
  provesStart,
  recoveryOf,
  runOrdered,
  startFailed,
  started,
  steady,
  stopFailed,
  stopHandedTo,
  stopNeeded,
  stopOrdered,
  stopped,
  waitKey,
} from './workload-machine.js';

const nodes = ['a', 'b', 'c'];
const gateOf = (workload: WorkloadRecord, node: string): GateAnswer =>
  askStartGate({ node, workload, record: aNode(node), incident: undefined, boot: `boot-${node}` });

describe('a workload', () => {
  it('changes its node only with a higher generation, and never from one node to another without one', () => {
    const step = fc.record({ op: fc.nat(18), node: fc.constantFrom(...nodes), stale: fc.nat(2) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let w: WorkloadRecord = aWorkload('db');
        for (const s of steps) {
          const g = w.generation - s.stale;
          const tries: (WorkloadRecord | undefined)[] = [
            cleared(w, s.node),
            assigned(w, s.node, 'x', g),
            corrected(w, s.node, g, 100 + g),
            handedTo(w, 'j', g),
            started(w, g, 'boot'),
            startFailed(w, 'j', 'why', s.stale === 2 ? w.generation + 5 : undefined),
            heldBecause(w, 'why'),
            lost(w, 'boot2'),
            moved(w, w.assignment?.node ?? '', s.node, g),
            stopOrdered(w, 'put'),
            runOrdered(w),
            stopNeeded(w, g),
            stopHandedTo(w, 'j', g),
            stopped(w, g),
            stopFailed(w, 'j', 'why', s.stale === 2 ? w.generation + 5 : undefined),
            moveOrdered(w, { cause: 'drain', from: s.node, to: 'c' }, g),
            left(w, g),
            ended(w, 1),
            steady(w),
          ];
          const next = tries[s.op];
          if (next === undefined) continue;
          if (next.assignment?.node !== w.assignment?.node) expect(next.generation).toBeGreaterThan(w.generation);
          expect(next.generation).toBeGreaterThanOrEqual(w.generation);
          if (next.assignment !== undefined) expect(next.assignment.generation).toBeLessThanOrEqual(next.generation);
          // One order at a time is owed, and a stop never beside a wish to run.
          expect(next.start !== undefined && next.stop !== undefined).toBe(false);
          expect(next.stop === undefined || next.desired === 'stopped' || next.move !== undefined).toBe(true);
          expect(next.stop === undefined || next.assignment !== undefined).toBe(true);
          // How often it has ended is about the node that it is on; while its start is only owed, its gate is shut.
          if (next.assignment?.node !== w.assignment?.node) expect(next).not.toHaveProperty('ended');
          if (s.op === 17) expect(gateOf(next, next.assignment?.node ?? '').allowed).toBe(false);
          // From one living node it goes to another by way of none, and only what was owed a stop there.
          if (next.assignment === undefined && next.move !== undefined) expect(w.stop ?? w.move).toBeDefined();
          // What moves is refused at the gate of the node that it leaves, until it has a new assignment.
          if (next.stop !== undefined && next.assignment !== undefined)
            expect(gateOf(next, next.assignment.node).allowed).toBe(false);
          // What the registry has followed is so for that very assignment: no order takes it over.
          if (s.op !== 2 && next.assignment?.followed !== undefined) expect(next.assignment).toEqual(w.assignment);
          // What a stale decision rests on is refused.
          if ([1, 2, 3, 4, 8, 11, 12, 13, 15, 16].includes(s.op))
            expect(s.stale === 0 || w.assignment?.generation === g).toBe(true);
          w = next;
        }
      }),
      { numRuns: runs(1000) },
    );
  });

  it('is given to nobody while somebody has it', () => {
    const w = aWorkload('db', { generation: 3, assignment: { node: 'a', generation: 3 } });
    expect(assigned(w, 'b', 'x', 3)).toBeUndefined();
    expect(moved(w, 'a', 'b', 3)).toBeUndefined();
  });
});

describe('an order that its node refuses as an older one', () => {
  const at = { generation: 3, assignment: { node: 'a', generation: 3 } };
  const starting = aWorkload('db', { ...at, start: { cause: 'put', attempt: 0, job: 'j' } });
  const stopping = aWorkload('db', { ...at, desired: 'stopped', stop: { cause: 'put', attempt: 0, job: 'j' } });

  it('is given again above the one that the node has seen', () => {
    const again = { generation: 10, assignment: { node: 'a', generation: 10 } };
    expect(startFailed(starting, 'j', 'STALE', 9)).toMatchObject({ ...again, start: { attempt: 1 } });
    expect(stopFailed(stopping, 'j', 'STALE', 9)).toMatchObject({ ...again, stop: { attempt: 1 } });
  });

  it('is given again as it was where the node has seen none that is newer, or names nonsense', () => {
    for (const seen of [undefined, 2, 2 ** 53 - 1])
      expect(startFailed(starting, 'j', 'STALE', seen)).toMatchObject({ ...at, start: { attempt: 1 } });
  });

  it('raises nothing for a job that the workload no longer waits for', () => {
    expect(startFailed(starting, 'before', 'STALE', 9)).toBeUndefined();
  });
});

describe('a run that the registry has followed to its node', () => {
  const before = aWorkload('db', { generation: 3, assignment: { node: 'b', generation: 3 } });
  const followed = corrected(before, 'a', 3, 2) as WorkloadRecord;
  const asks = (workload: WorkloadRecord | undefined, node: string, generation: number): boolean => {
    if (workload === undefined) throw new Error('the step is refused');
    const facts = { node, workload, record: aNode(node), incident: undefined, boot: `boot-${node}` };
    const answer = askStartGate({ ...facts, generation });
    return answer.allowed && answer.generation === generation;
  };

  it('starts again by itself under the generation that its unit was made for, there and nowhere else', () => {
    expect([asks(followed, 'a', 2), asks(followed, 'a', 4)]).toEqual([true, true]);
    expect([asks(followed, 'a', 1), asks(followed, 'a', 3), asks(followed, 'b', 2)]).toEqual([false, false, false]);
  });

  it('does so no longer once an order was given, nor where it was only being started', () => {
    const next: Record<string, WorkloadRecord | undefined> = {
      'a start': handedTo(ended(followed, 1) as WorkloadRecord, 'j', 4),
      'a stop': stopOrdered(followed, 'put'),
      'a start after a stop': runOrdered(stopOrdered(followed, 'put')),
      'a move': moveOrdered(followed, { cause: 'drain', from: 'a', to: 'b' }, 4),
      'a death': cleared(followed, 'a'),
      'a way there and back': corrected(corrected(followed, 'b', 4, 3) as WorkloadRecord, 'a', 5),
      'a start that was not through': corrected(before, 'a', 3),
    };
    for (const [what, w] of Object.entries(next)) expect([what, asks(w, 'a', 2)]).toEqual([what, false]);
  });
});

describe('the wait of a lost workload for its node', () => {
  it('begins anew with each reboot', () => {
    const db = aWorkload('db', { generation: 1, assignment: { node: 'a', generation: 1 }, boot: 'b1' });
    const keys = ['b2', 'b3'].map((boot) => waitKey(lost(db, boot) as WorkloadRecord));
    expect(new Set(keys).size).toBe(2);
  });
});

describe("what an incident waits for before its node's return", () => {
  const owed = (attempt: number, o: Partial<WorkloadRecord> = {}): WorkloadRecord =>
    aWorkload('db', {
      generation: 3,
      assignment: { node: 'b', generation: 3 },
      start: { cause: 'incident:i', attempt },
      ...o,
    });
  const line = { workload: 'db', from: 'a', state: 'waiting' as const };
  const settled = (w: WorkloadRecord): boolean => isSettledRecovery(recoveryOf(line, w, false));

  it('is a start that is on its way, or that failed once or twice', () => {
    expect(settled(owed(0))).toBe(false);
    expect(settled(owed(0, { start: { cause: 'incident:i', attempt: 0, job: 'j' } }))).toBe(false);
    expect(settled(owed(2, { held: 'the unit is bad' }))).toBe(false);
  });
  it('is not one that fails again and again, between two tries or in one, nor one that is held', () => {
    expect(settled(owed(3, { held: 'the unit is bad' }))).toBe(true);
    expect(settled(owed(4, { start: { cause: 'incident:i', attempt: 4, job: 'j' } }))).toBe(true);
    expect(settled(owed(0, { held: 'n-5 does not say what it runs' }))).toBe(true);
  });
});

describe('a run that its node reports', () => {
  it('ends no stop that is owed: a move goes on', () => {
    const w = assigned(aWorkload('db'), 'a', 'put', 0) as WorkloadRecord;
    const moving = moveOrdered(w, { cause: 'drain', from: 'a', to: 'b' }, w.generation) as WorkloadRecord;
    expect(started(moving, moving.generation, 'boot-1')).toBeUndefined();
  });

  it('proves the owed start, but not while the unit is only being started', () => {
    const w = aWorkload('db', {
      assignment: { node: 'a', generation: 2 },
      generation: 2,
      start: { cause: 'put', attempt: 0 },
    });
    expect(provesStart(w, { generation: 2 }, 'boot-1')).toBe(true);
    expect(provesStart(w, { generation: 2, starting: true }, 'boot-1')).toBe(false);
  });
});

describe('the look before a start', () => {
  const facts = { workload: 'db', target: 'a', mustAnswer: nodes };
  const report = (node: string, ...names: string[]) => ({
    node,
    bootId: 'x',
    workloads: names.map((name) => ({ name, generation: 1 })),
  });

  it('finds it elsewhere, whoever else is silent', () => {
    expect(checkStart({ ...facts, fresh: [report('c', 'db')] })).toEqual({
      kind: 'elsewhere',
      node: 'c',
      generation: 1,
    });
  });
  it('holds while a node in service has not answered, or cannot say', () => {
    const fresh = [report('a'), { node: 'b', bootId: 'x' }, report('c', 'web')];
    expect(checkStart({ ...facts, fresh })).toEqual({ kind: 'unknown', nodes: ['b'] });
  });
  it('asks whoever is in service, and of those that count as off whoever speaks', () => {
    const n = aNode('a');
    expect(mustAnswer(n, false, false, () => false)).toBe(true);
    expect(mustAnswer(n, true, false, () => false)).toBe(false);
    expect(mustAnswer({ ...n, state: 'Disappeared' }, true, true, () => false)).toBe(true);
    expect(mustAnswer({ ...n, state: 'Disappeared' }, false, false, () => false)).toBe(false);
    expect(mustAnswer({ ...n, enrolled: false }, false, false, () => false)).toBe(false);
  });
  it('is clear when all have answered, and sees it on its own node', () => {
    expect(checkStart({ ...facts, fresh: nodes.map((n) => report(n)) }).kind).toBe('clear');
    expect(checkStart({ ...facts, fresh: [report('a', 'db')] }).kind).toBe('there');
  });
});
