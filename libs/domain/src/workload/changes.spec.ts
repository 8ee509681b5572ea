import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { GateAnswer, NodeRecord, WorkloadRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { aNode as healthyNode } from '#contracts/testing/a-node.js';
import { aWorkload } from '#contracts/testing/a-workload.js';
import { workloadAfter, workloadChanges, type WorkloadEvent, type WorkloadSettings } from './changes.js';
import { PUT } from './causes.js';
import { provesStart, waitKey } from './owed-start.js';
import { malformed, stageOf } from './stage.js';
import { askStartGate } from './start-decision.js';

const aNode = (name: string): NodeRecord => healthyNode(name, { bootId: `boot-${name}` });
const after = (w: WorkloadRecord, e: WorkloadEvent): WorkloadRecord => {
  const next = workloadAfter(w, e);
  if (next === undefined) throw new Error(`${e.kind} is refused`);
  return next;
};
const settings = (desired: 'running' | 'stopped'): WorkloadSettings => {
  const { name, priority, weight, recovery } = aWorkload('db');
  return { name, priority, weight, recovery, desired };
};
const nodes = ['a', 'b', 'c'];
const gateOf = (workload: WorkloadRecord, node: string, generation?: number): GateAnswer =>
  askStartGate(
    {
      ...{ node, workload, record: aNode(node), incident: undefined, boot: `boot-${node}` },
      ...{ barred: undefined, seenOn: undefined },
    },
    generation,
  );

describe('a workload', () => {
  it('changes its node only with a higher generation, and never from one node to another without one', () => {
    const step = fc.record({ op: fc.nat(20), node: fc.constantFrom(...nodes), stale: fc.nat(2), seen: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let w: WorkloadRecord = aWorkload('db');
        for (const s of steps) {
          const generation = w.generation - s.stale;
          const seen = s.stale === 2 ? w.generation + 5 : undefined;
          const events: WorkloadEvent[] = [
            { kind: 'cleared', from: s.node },
            { kind: 'assigned', to: s.node, cause: 'x', generation },
            s.seen
              ? { kind: 'corrected', seenOn: s.node, generation, followed: 100 + generation }
              : { kind: 'corrected', seenOn: s.node, generation, cause: 'x' },
            { kind: 'start-given', job: 'j', generation },
            { kind: 'started', generation, boot: 'boot' },
            { kind: 'start-failed', job: 'j', why: 'why', seen },
            { kind: 'held', why: 'why' },
            { kind: 'lost', boot: 'boot2' },
            { kind: 'moved', from: w.assignment?.node ?? '', to: s.node, generation },
            { kind: 'put', settings: settings('stopped') },
            { kind: 'put', settings: settings('running') },
            { kind: 'put', settings: settings(w.desired), node: s.node },
            { kind: 'stop-needed', generation },
            { kind: 'stop-given', job: 'j', generation },
            { kind: 'stopped', generation },
            { kind: 'stop-failed', job: 'j', why: 'why', seen },
            { kind: 'move-ordered', move: { cause: 'drain', from: s.node, to: 'c' }, generation },
            { kind: 'given-up', move: { cause: 'start-failed', from: s.node, to: 'c' }, generation, at: 1 },
            { kind: 'left', generation },
            { kind: 'ended', at: 1 },
            { kind: 'steady' },
          ];
          const event = events[s.op];
          const next = event && workloadAfter(w, event);
          if (event === undefined || next === undefined) continue;
          const row = workloadChanges[event.kind];
          // What the table says of it is so.
          expect(row.stages[stageOf(w)]).toContain(stageOf(next));
          expect(malformed(next)).toBeUndefined();
          if (row.generation === 'kept') expect(next.generation).toBe(w.generation);
          if (row.generation === 'raised') expect(next.generation).toBeGreaterThan(w.generation);
          if (next.assignment?.node !== w.assignment?.node) expect(next.generation).toBeGreaterThan(w.generation);
          expect(next.generation).toBeGreaterThanOrEqual(w.generation);
          // How often it has ended is about the node that it is on; while its start is only owed, its gate is shut.
          if (next.assignment?.node !== w.assignment?.node) expect(next).not.toHaveProperty('ended');
          if (event.kind === 'ended') expect(gateOf(next, next.assignment?.node ?? '').allowed).toBe(false);
          // From one living node it goes to another by way of none, and only what was owed a stop there.
          if (next.assignment === undefined && next.move !== undefined) expect(w.stop ?? w.move).toBeDefined();
          // What moves is refused at the gate of the node that it leaves, until it has a new assignment.
          if (next.stop !== undefined && next.assignment !== undefined)
            expect(gateOf(next, next.assignment.node).allowed).toBe(false);
          // What the registry has followed is so for that very assignment: no order takes it over.
          if (event.kind !== 'corrected' && next.assignment?.followed !== undefined)
            expect(next.assignment).toEqual(w.assignment);
          // What a stale decision rests on is refused.
          if ('generation' in event) expect(s.stale === 0 || w.assignment?.generation === generation).toBe(true);
          w = next;
        }
      }),
      { numRuns: runs(1000) },
    );
  });

  it('is given to nobody while somebody has it', () => {
    const w = aWorkload('db', { generation: 3, assignment: { node: 'a', generation: 3 } });
    expect(workloadAfter(w, { kind: 'assigned', to: 'b', cause: 'x', generation: 3 })).toBeUndefined();
    expect(workloadAfter(w, { kind: 'moved', from: 'a', to: 'b', generation: 3 })).toBeUndefined();
  });
});

describe('an order that its node refuses as an older one', () => {
  const at = { generation: 3, assignment: { node: 'a', generation: 3 } };
  const starting = aWorkload('db', { ...at, start: { cause: 'put', attempt: 0, job: 'j' } });
  const stopping = aWorkload('db', { ...at, desired: 'stopped', stop: { cause: 'put', attempt: 0, job: 'j' } });

  it('is given again above the one that the node has seen', () => {
    const again = { generation: 10, assignment: { node: 'a', generation: 10 } };
    expect(workloadAfter(starting, { kind: 'start-failed', job: 'j', why: 'STALE', seen: 9 })).toMatchObject({
      ...again,
      start: { attempt: 1 },
    });
    expect(workloadAfter(stopping, { kind: 'stop-failed', job: 'j', why: 'STALE', seen: 9 })).toMatchObject({
      ...again,
      stop: { attempt: 1 },
    });
  });

  it('is given again as it was where the node has seen none that is newer, or names nonsense', () => {
    for (const seen of [undefined, 2, 2 ** 53 - 1])
      expect(workloadAfter(starting, { kind: 'start-failed', job: 'j', why: 'STALE', seen })).toMatchObject({
        ...at,
        start: { attempt: 1 },
      });
  });

  it('raises nothing for a job that the workload no longer waits for', () => {
    expect(workloadAfter(starting, { kind: 'start-failed', job: 'before', why: 'STALE', seen: 9 })).toBeUndefined();
  });
});

describe('a run that the registry has followed to its node', () => {
  const before = aWorkload('db', { generation: 3, assignment: { node: 'b', generation: 3 } });
  const followed = after(before, { kind: 'corrected', seenOn: 'a', generation: 3, followed: 2 });
  const asks = (workload: WorkloadRecord, node: string, generation: number): boolean => {
    const answer = gateOf(workload, node, generation);
    return answer.allowed && answer.generation === generation;
  };

  it('starts again by itself under the generation that its unit was made for, there and nowhere else', () => {
    expect([asks(followed, 'a', 2), asks(followed, 'a', 4)]).toEqual([true, true]);
    expect([asks(followed, 'a', 1), asks(followed, 'a', 3), asks(followed, 'b', 2)]).toEqual([false, false, false]);
  });

  it('does so no longer once an order was given, nor where it was only being started', () => {
    const stop: WorkloadEvent = { kind: 'put', settings: settings('stopped') };
    const next: Record<string, WorkloadRecord> = {
      'a start': after(after(followed, { kind: 'ended', at: 1 }), { kind: 'start-given', job: 'j', generation: 4 }),
      'a stop': after(followed, stop),
      'a start after a stop': after(after(followed, stop), { kind: 'put', settings: settings('running') }),
      'a move': after(followed, {
        kind: 'move-ordered',
        move: { cause: 'drain', from: 'a', to: 'b' },
        generation: 4,
      }),
      'a death': after(followed, { kind: 'cleared', from: 'a' }),
      'a way there and back': after(after(followed, { kind: 'corrected', seenOn: 'b', generation: 4, followed: 3 }), {
        kind: 'corrected',
        seenOn: 'a',
        generation: 5,
        cause: 'x',
      }),
      'a start that was not through': after(before, { kind: 'corrected', seenOn: 'a', generation: 3, cause: 'x' }),
    };
    for (const [what, w] of Object.entries(next)) expect([what, asks(w, 'a', 2)]).toEqual([what, false]);
  });
});

describe('a unit that is only being started, and that the registry has followed', () => {
  it('is owed its start there, and no gate is open before that is given, whoever said before that it runs', () => {
    const before = aWorkload('db', { generation: 3, assignment: { node: 'b', generation: 3 } });
    for (const w of [before, { ...before, start: { cause: PUT, attempt: 2 } }]) {
      const next = after(w, { kind: 'corrected', seenOn: 'a', generation: 3, cause: 'incident:i' });
      expect(next).toMatchObject({ assignment: { node: 'a' }, start: { cause: 'incident:i', attempt: 0 } });
      expect(gateOf(next, 'a')).toMatchObject({ allowed: false, code: 'NOT_DUE' });
    }
  });
});

describe('the wait of a lost workload for its node', () => {
  it('begins anew with each reboot', () => {
    const db = aWorkload('db', { generation: 1, assignment: { node: 'a', generation: 1 }, boot: 'b1' });
    const keys = ['b2', 'b3'].map((boot) => waitKey(after(db, { kind: 'lost', boot })));
    expect(new Set(keys).size).toBe(2);
  });
});

describe('a run that its node reports', () => {
  it('ends no stop that is owed: a move goes on', () => {
    const w = after(aWorkload('db'), { kind: 'assigned', to: 'a', cause: 'put', generation: 0 });
    const moving = after(w, {
      kind: 'move-ordered',
      move: { cause: 'drain', from: 'a', to: 'b' },
      generation: w.generation,
    });
    expect(workloadAfter(moving, { kind: 'started', generation: moving.generation, boot: 'boot-1' })).toBeUndefined();
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

  it('proves it after a reboot in any boot but the one that it was lost with', () => {
    const ran = aWorkload('db', { assignment: { node: 'a', generation: 2 }, generation: 2, boot: 'boot-1' });
    const lost = after(ran, { kind: 'lost', boot: 'boot-2' });
    const proves = (boot: string): boolean => provesStart(lost, { generation: 2 }, boot);
    expect(['boot-1', 'boot-2', 'boot-3'].filter(proves)).toEqual(['boot-2', 'boot-3']);
  });

  it('proves it where it was moved by its very generation: its cause names a boot of the node before', () => {
    const ran = aWorkload('db', { assignment: { node: 'a', generation: 2 }, generation: 2, boot: 'boot-1' });
    const lost = after(ran, { kind: 'lost', boot: 'boot-2' });
    const moved = after(lost, { kind: 'moved', from: 'a', to: 'b', generation: 2 });
    expect([2, moved.generation].map((generation) => provesStart(moved, { generation }, 'boot-of-b'))).toEqual([
      ...[false, true],
    ]);
  });
});
