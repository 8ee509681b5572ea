import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { IncidentPhase, NodeRecord, PendingReturn } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { runs, SEED } from '#contracts/testing/chance.js';
import {
  isUnseenReturn,
  returnRow,
  returnStep,
  returnTable,
  SAYS_NOTHING_MS,
  stageByReturn,
  type ReturnRow,
  type ReturnView,
  type WorkThere,
} from './return-table.js';
import { returnStage } from './stage.js';

const calm: ReturnView = {
  incident: undefined,
  reserved: false,
  quarantined: false,
  returns: 1,
  flaps: 3,
  waitMs: 0,
  work: () => ({ kind: 'none' }),
  unknownMs: 0,
};
const up = { verdict: 'UP' as const, networks: [], epoch: 1, seq: 1, at: 1 };
const back = (o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode('a-1', { status: 'Allocated', verdict: up, pendingReturn: { reason: 'rebooted', at: 1 }, ...o });

describe('a node that came back', () => {
  it('is checked first, and set up again only where the check asked for it', () => {
    expect(returnStep(back(), calm)).toEqual({ do: 'check' });
    const due = back({ pendingReturn: { reason: 'rebooted', at: 1, next: 'resetup' } });
    expect(returnStep(due, calm)).toEqual({ do: 'resetup' });
  });
  it('is dealt with by one row of the table, which has a name', () => {
    const cordon = { by: 'eve', reason: 'disk', at: 1 };
    expect(returnRow(back({ cordon }), { ...calm, quarantined: true })).toBe('CORDONED');
    expect(returnRow(back(), { ...calm, waitMs: 10 })).toBe('CHECKED_IN_VAIN');
    const due = back({ pendingReturn: { reason: 'rebooted', at: 1, next: 'resetup' } });
    expect(returnRow(due, { ...calm, work: () => ({ kind: 'unknown', why: 'silent' }) })).toBeUndefined();
    expect(returnRow(aNode('a-1'), calm)).toBeUndefined();
  });
  it.each([
    ['a job holds it', {}, { reserved: true }],
    ['a power command may still take effect', {}, { quarantined: true }],
    ['its incident is being recovered', {}, { incident: 'recovering' as const }],
    ['it is about to be fenced', {}, { incident: 'fencing' as const }],
    ['its last check failed just now', {}, { waitMs: 10 }],
    ['it is not heard', { state: 'Disappeared' as const }, {}],
    ['it is suspect', { verdict: { ...up, verdict: 'SUSPECT' as const } }, {}],
    [
      'its management network is cut',
      { verdict: { ...up, verdict: 'DEGRADED' as const, networks: ['management'] } },
      {},
    ],
    ['it waits for an operator', { pendingReturn: { reason: 'rebooted' as const, at: 1, held: 'drift' } }, {}],
    ['it is being decommissioned', { status: 'Cancelled' as const }, {}],
    ['it is cordoned', { cordon: { by: 'eve', reason: 'disk', at: 1 } }, {}],
    [
      'it is cordoned and due to be set up again',
      {
        cordon: { by: 'eve', reason: 'disk', at: 1 },
        pendingReturn: { reason: 'rebooted' as const, at: 1, next: 'resetup' as const },
      },
      {},
    ],
    ['it is off', { confirmedOff: { at: 1, incident: 'i' } }, {}],
  ])('waits while %s', (_why, node, view) => {
    expect(returnStep(back(node), { ...calm, ...view })).toEqual({ do: 'wait' });
  });
  it('is checked while only its backend is cut, and after its incident is over', () => {
    expect(returnStep(back({ verdict: { ...up, verdict: 'DEGRADED', networks: ['backend'] } }), calm).do).toBe('check');
    for (const incident of ['recovered', 'closed', 'survived', 'cancelled'] as const)
      expect(returnStep(back(), { ...calm, incident }).do).toBe('check');
  });
  it('that comes back again and again is held', () => {
    expect(returnStep(back(), { ...calm, returns: 3 })).toEqual({ do: 'check' });
    expect(returnStep(back(), { ...calm, returns: 4 })).toMatchObject({ do: 'hold' });
    expect(returnStep(back(), { ...calm, returns: 4, flaps: 9 })).toEqual({ do: 'check' });
  });
  it('without an agent is known by what external monitors say', () => {
    const { verdict: _none, ...plain } = back({ enrolled: false });
    expect(returnStep(plain, calm)).toEqual({ do: 'check' });
  });
});

describe('a return, whatever is known of its node,', () => {
  const pending = fc.record(
    {
      reason: fc.constantFrom<PendingReturn['reason'][]>('disappeared', 'degraded', 'rebooted', 'first-seen'),
      at: fc.constant(1),
      next: fc.constant('resetup' as const),
    },
    { requiredKeys: ['reason', 'at'] },
  );
  const held = fc.record(
    {
      reason: fc.constant('rebooted' as const),
      at: fc.constant(1),
      held: fc.constant('drift'),
      heldBy: fc.constant('work' as const),
    },
    { requiredKeys: ['reason', 'at', 'held'] },
  );
  const node = fc.record(
    {
      pendingReturn: fc.oneof(pending, held),
      status: fc.constantFrom<NodeRecord['status'][]>('Allocated', 'Allocated', 'Allocated', 'Cancelled'),
      state: fc.constantFrom<NodeRecord['state'][]>('Discovered', 'Discovered', 'Disappeared'),
      cordon: fc.constant({ by: 'eve', reason: 'disk', at: 1 }),
      confirmedOff: fc.constant({ at: 1, incident: 'i' }),
    },
    { requiredKeys: ['pendingReturn', 'status', 'state'] },
  );
  const view = fc.record({
    incident: fc.constantFrom<(IncidentPhase | undefined)[]>(undefined, undefined, 'recovered', 'recovering'),
    reserved: fc.boolean(),
    quarantined: fc.boolean(),
    returns: fc.constantFrom(1, 4),
    flaps: fc.constant(3),
    waitMs: fc.constantFrom(0, 10),
    work: fc
      .constantFrom<WorkThere[]>(
        { kind: 'none' },
        { kind: 'runs', workloads: ['db'] },
        { kind: 'unknown', why: 'silent' },
      )
      .map((work) => () => work),
    unknownMs: fc.constantFrom(0, SAYS_NOTHING_MS),
  });
  const always = (check: (n: NodeRecord, v: ReturnView, row: ReturnRow | undefined) => void): void =>
    fc.assert(
      fc.property(node, view, (o, v) => {
        const n = back(o);
        const { pendingReturn: p } = o;
        check(
          n,
          v,
          Object.values<ReturnRow>(returnTable).find((row) => row.when({ p, n, v })),
        );
      }),
      { seed: SEED, numRuns: runs(2_000) },
    );

  it('has one answer, that of the first row that holds, and waits where none does', () => {
    always((n, v, row) => expect(returnStep(n, v).do).toBe(row?.do ?? 'wait'));
  });
  it('moves only from the stages that the row names, to another one', () => {
    always((n, _v, row) => {
      if (row === undefined || row.do === 'wait') return;
      expect(row.from).toContain(returnStage(n.pendingReturn));
      expect(stageByReturn(row)).not.toBe(returnStage(n.pendingReturn));
    });
  });
  it('is set up again only where it is known that nothing runs there, and nobody else is at it', () => {
    always((n, v) => {
      if (returnStep(n, v).do !== 'resetup') return;
      expect([v.work().kind, v.reserved, v.quarantined, n.cordon, n.confirmedOff, n.status]).toEqual([
        ...['none', false, false, undefined, undefined, 'Allocated'],
      ]);
    });
  });
});

describe('a node that is to be set up again', () => {
  const due = back({ pendingReturn: { reason: 'rebooted', at: 1, next: 'resetup', found: 'mirror drift' } });
  const runs = (): { kind: 'runs'; workloads: string[] } => ({ kind: 'runs', workloads: ['db'] });
  const silent = (): { kind: 'unknown'; why: string } => ({ kind: 'unknown', why: 'it does not say what it runs' });

  it('is held while something runs there, by name, and with what was found', () => {
    expect(returnStep(due, { ...calm, work: runs })).toEqual({
      do: 'hold',
      by: 'work',
      why: 'drift, needs operator (it runs db): mirror drift',
    });
  });
  it('is waited for while it cannot be said whether anything runs there, and held when that lasts', () => {
    expect(returnStep(due, { ...calm, work: silent, unknownMs: SAYS_NOTHING_MS - 1 })).toEqual({ do: 'wait' });
    expect(returnStep(due, { ...calm, work: silent, unknownMs: SAYS_NOTHING_MS })).toMatchObject({
      do: 'hold',
      by: 'work',
      why: expect.stringContaining('does not say'),
    });
  });
  it('is checked whatever runs there: a check touches nothing', () => {
    expect(returnStep(back(), { ...calm, work: runs })).toEqual({ do: 'check' });
  });
  it('is let go of when nothing runs there any more, and only where that was what it was held for', () => {
    const held = (heldBy?: 'work'): NodeRecord =>
      back({ pendingReturn: { reason: 'rebooted', at: 1, held: 'drift', ...(heldBy && { heldBy }) } });
    expect(returnStep(held('work'), calm)).toEqual({ do: 'lift' });
    expect(returnStep(held('work'), { ...calm, reserved: true })).toEqual({ do: 'wait' });
    for (const work of [runs, silent]) expect(returnStep(held('work'), { ...calm, work })).toEqual({ do: 'wait' });
    expect(returnStep(held(), calm)).toEqual({ do: 'wait' });
  });
});

describe('a return that nobody saw', () => {
  const fenced = (o: Partial<NodeRecord> = {}): NodeRecord => {
    const { pendingReturn: _none, ...rest } = back({ maintenance: { reason: 'fenced', at: 1 }, ...o });
    return rest;
  };
  it('is found by the maintenance that is still set on a node that is up', () => {
    expect(isUnseenReturn(fenced(), calm)).toBe(true);
  });
  it('is none while the node is off, held by a job, or in an incident', () => {
    expect(isUnseenReturn(fenced({ confirmedOff: { at: 1, incident: 'i' } }), calm)).toBe(false);
    expect(isUnseenReturn(fenced(), { ...calm, reserved: true })).toBe(false);
    expect(isUnseenReturn(fenced(), { ...calm, incident: 'recovering' })).toBe(false);
  });
});
