import { describe, expect, it } from '@jest/globals';
import type { NodeRecord } from '#contracts';
import { aNode } from '../testing/records.js';
import { refusedRemoval, type RemovalFacts } from './removal.js';

const off = { confirmedOff: { incident: 'i-1', at: 1 } };
const node = (o: Partial<NodeRecord> = off): NodeRecord =>
  aNode('a-1', { status: 'Allocated', state: 'Disappeared', ...o });
const recovered: NonNullable<RemovalFacts['incident']> = {
  id: 'i-1',
  phase: 'recovered',
  powerOn: { wanted: false, requestedAt: 1 },
};
const refusal = (f: Partial<RemovalFacts> = {}, o?: Partial<NodeRecord>): string | undefined => {
  const refused = refusedRemoval(node(o), { incident: recovered, workloads: [], ...f });
  return refused && `${refused.code} ${refused.message}`;
};
const power = { requestedAt: 1, wanted: true };

describe('a node whose incident is recovered', () => {
  it('may be forgotten when it was proven off and nobody hears it: hardware that stays dead', () => {
    expect(refusal()).toBeUndefined();
    expect(refusal({ heardAgoMs: 10_000 })).toBeUndefined();
    expect(refusal({ incident: { ...recovered, powerOn: { ...power, done: true, ok: true } } })).toBeUndefined();
  });

  it.each<[string, Partial<RemovalFacts>, Partial<NodeRecord>, RegExp]>([
    ['its incident is not over yet', { incident: { ...recovered, phase: 'recovering' } }, off, /i-1 is recovering$/],
    ['it is back', {}, {}, /on its way back into service/],
    ['it was proven off by another incident', {}, { confirmedOff: { incident: 'i-0', at: 1 } }, /on its way back/],
    ['it is being switched on', { incident: { ...recovered, powerOn: power } }, off, /being switched on/],
    ['a command may still take effect', { quarantined: 'a power-off may still come' }, off, /yet a power-off may/],
    ['its agent is heard', { heardAgoMs: 9999 }, off, /heard just now/],
    ['another monitor hears it', {}, { ...off, state: 'Discovered', status: 'Unallocated' }, /heard just now/],
  ])('is kept while %s', (_what, f, o, text) => {
    expect(refusal(f, o)).toMatch(/^NODE_BUSY a-1 has an open incident: i-1 is recover/);
    expect(refusal(f, o)).toMatch(text);
  });

  it('is kept for its workloads and its holder all the same', () => {
    expect(refusal({ workloads: ['db'] })).toMatch(/^WORKLOADS_PRESENT/);
    expect(refusal({ hold: { job: 'job-1', generation: 1, at: 1 } })).toMatch(/^NODE_RESERVED/);
  });
});
