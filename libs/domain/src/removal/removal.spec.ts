import { describe, expect, it } from 'vitest';
import type { NodeRecord, VerdictKind } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { refusedRemoval, type RemovalFacts } from './removal.js';

const off = { confirmedOff: { incident: 'i-1', at: 1 } };
const node = (o: Partial<NodeRecord> = off): NodeRecord =>
  aNode('a-1', { status: 'Allocated', state: 'Disappeared', bootId: 'boot-a-1', ...o });
const recovered: NonNullable<RemovalFacts['incident']> = {
  id: 'i-1',
  phase: 'recovered',
  powerOn: { wanted: false, requestedAt: 1 },
  commands: [],
  bootId: 'boot-1',
};
const refusal = (f: Partial<RemovalFacts> = {}, o?: Partial<NodeRecord>): string | undefined => {
  const silent = { unheardMs: 10_000, reportPeriod: 1000, alarms: [], workloads: [] };
  const refused = refusedRemoval(node(o), { incident: recovered, ...silent, ...f });
  return refused && `${refused.code} ${refused.message}`;
};
const on = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'on', at: 1, result: { ok: true } } as const;
const booting = {
  ...recovered,
  powerOn: { wanted: true, requestedAt: 1, done: true, ok: true },
  commands: [on],
  bootId: 'boot-a-1',
};
const verdict = (v: VerdictKind): NonNullable<NodeRecord['verdict']> => ({
  verdict: v,
  networks: [],
  epoch: 1,
  seq: 1,
  at: 1,
});
const power = { requestedAt: 1, wanted: true };

describe('a node whose incident is recovered', () => {
  it('may be forgotten when it was proven off and nobody hears it: hardware that stays dead', () => {
    expect(refusal()).toBeUndefined();
    expect(refusal({ unheardMs: 30_000, reportPeriod: 15_000 })).toBeUndefined();
    expect(refusal({ incident: booting, alarms: ['boot-timeout'] })).toBeUndefined();
    expect(refusal({ incident: booting }, { ...off, enrolled: false })).toBeUndefined();
    expect(refusal({}, { ...off, verdict: verdict('DOWN') })).toBeUndefined();
    expect(refusal({ incident: { ...recovered, powerOn: { ...power, done: true, ok: true } } })).toBeUndefined();
  });

  it.each<[string, Partial<RemovalFacts>, Partial<NodeRecord>, RegExp]>([
    ['its incident is not over yet', { incident: { ...recovered, phase: 'recovering' } }, off, /i-1 is recovering$/],
    ['it is back', {}, {}, /on its way back into service/],
    ['it was proven off by another incident', {}, { confirmedOff: { incident: 'i-0', at: 1 } }, /on its way back/],
    ['it is being switched on', { incident: { ...recovered, powerOn: power } }, off, /being switched on/],
    ['a command may still take effect', { quarantined: 'a power-off may still come' }, off, /yet a power-off may/],
    ['its agent may have been heard', { unheardMs: 9999 }, off, /heard just now/],
    ['an agent that reports seldom may', { unheardMs: 29_999, reportPeriod: 15_000 }, off, /heard just now/],
    ['it is judged UP', {}, { ...off, verdict: verdict('UP') }, /heard just now/],
    ['it is judged DEGRADED', {}, { ...off, verdict: verdict('DEGRADED') }, /heard just now/],
    ['it has spoken since the proof', { alarms: ['conflict-power'] }, off, /has spoken since it was proven off/],
    ['it may be booting', { incident: booting }, off, /may be booting/],
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
