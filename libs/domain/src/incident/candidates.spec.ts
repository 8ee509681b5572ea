import { describe, expect, it } from 'vitest';
import { VerdictKinds, type IncidentPhase, type IncidentRecord } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import { countsForNewStorm, isHeldAlive, memberState } from './candidates.js';

const life = (pass: boolean): IncidentRecord['gates'] => [{ gate: 'LIFE_SIGN', pass, detail: '' }];
const held = (o: Partial<IncidentRecord> = {}): IncidentRecord =>
  anIncident('n-1', { degraded: true, phase: 'suppressed', gate: 'LIFE_SIGN', gates: life(false), ...o });

describe('an incident of a node that stays DEGRADED', () => {
  it('takes no place in the brake while the node is seen alive and nothing is to be done to it', () => {
    expect(isHeldAlive(held(), 'DEGRADED', false)).toBe(true);
    // A gate that is asked before it stops it as well.
    for (const gate of ['BLIND', 'NOT_FENCEABLE'] as const)
      expect([gate, isHeldAlive(held({ gate }), 'DEGRADED', false)]).toEqual([gate, true]);
  });

  it('counts from when it may go on', () => {
    for (const verdict of [...VerdictKinds, undefined].filter((v) => v !== 'DEGRADED'))
      expect([verdict, isHeldAlive(held(), verdict, false)]).toEqual([verdict, false]);
    const phases: IncidentPhase[] = ['open', 'investigating', 'fencing', 'failed', 'fenced', 'recovering'];
    for (const phase of phases)
      expect([phase, isHeldAlive(held({ phase }), 'DEGRADED', false)]).toEqual([phase, false]);
    const released = { by: 'eve', reason: 'it must go', at: 1, gates: ['LIFE_SIGN' as const], force: true };
    expect(isHeldAlive(held({ released }), 'DEGRADED', false)).toBe(false);
    for (const gates of [life(true), []])
      expect(isHeldAlive(held({ gate: 'BLIND', gates }), 'DEGRADED', false)).toBe(false);
    expect(isHeldAlive(held(), 'DEGRADED', true)).toBe(false);
  });

  it('counts as ever where the policy has not opened it', () => {
    const { degraded: _no, ...plain } = held();
    expect(isHeldAlive(plain, 'DEGRADED', false)).toBe(false);
  });
});

describe('an incident that is not recovered', () => {
  const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 1 };

  it('counts for a new storm for ten minutes, and for as long as its node may be losing its power', () => {
    const failed = anIncident('n-1', { phase: 'failed', commands: [{ ...off, endedAt: 2 }] });
    expect([countsForNewStorm(failed, 599_999), countsForNewStorm(failed, 600_000)]).toEqual([true, false]);
    expect(countsForNewStorm({ ...failed, commands: [off] }, 600_000)).toBe(true);
    expect(countsForNewStorm({ ...failed, phase: 'fencing' }, 600_000)).toBe(true);
  });
});

describe('a member of a storm', () => {
  it('is of the rest unless it is heard on all networks, or of no more interest', () => {
    const node = aNode('n-1');
    expect(memberState(node, undefined, 'UP')).toBe('up');
    for (const v of [...VerdictKinds.filter((x) => x !== 'UP'), undefined])
      expect([v, memberState(node, anIncident('n-1', { phase: 'failed' }), v)]).toEqual([v, 'rest']);
    for (const phase of ['fenced', 'recovering', 'recovered'] as const)
      expect(memberState(node, anIncident('n-1', { phase }), 'DOWN')).toBe('out');
    expect(memberState(undefined, undefined, undefined)).toBe('out');
    expect(memberState({ ...node, cordon: { reason: 'disk', by: 'eve', at: 1 } }, undefined, 'DOWN')).toBe('out');
    expect(memberState({ ...node, confirmedOff: { at: 1, incident: 'i' } }, undefined, 'DOWN')).toBe('out');
  });
});
