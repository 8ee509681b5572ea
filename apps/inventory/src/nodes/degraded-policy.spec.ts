import { describe, expect, it } from 'vitest';
import type { DegradedSettings, NodeRecord, VerdictKind } from '#contracts';
import { networksDown } from '#domain/verdict/networks-out.js';
import { aNode } from '../testing/records.js';
import { avoidedBecause, degradedSteps, type DegradedFacts } from './degraded-policy.js';

const node = (name: string, verdict: VerdictKind, networks: string[] = [], o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode(name, { verdict: { verdict, networks, epoch: 1, seq: 1, at: 1 }, ...o });
const cut = (name: string, ...networks: string[]): NodeRecord => node(name, 'DEGRADED', networks);
const up = (...names: string[]): NodeRecord[] => names.map((n) => node(n, 'UP'));
const five = [cut('a', 'backend'), ...up('b', 'c', 'd', 'e')];

const steps = (policy: DegradedSettings['policy'], o: Partial<DegradedFacts> = {}): [string, string][] => [
  ...degradedSteps({
    policy: { policy, after: 30_000 },
    sighted: true,
    nodes: five,
    degradedForMs: () => 30_000,
    ...o,
  }),
];

describe('what follows from DEGRADED', () => {
  it('is what the policy says once it has lasted, and nothing beyond the alarm by default', () => {
    expect(steps('alarm')).toEqual([]);
    expect(steps('drain')).toEqual([['a', 'drain']]);
    expect(steps('down')).toEqual([['a', 'down']]);
    expect(steps('drain', { degradedForMs: () => 29_999 })).toEqual([]);
  });

  it('is nothing while the detector is blind or silent: its verdicts count as UNKNOWN', () => {
    for (const policy of ['drain', 'down'] as const) expect(steps(policy, { sighted: false })).toEqual([]);
  });

  it('is nothing for a node that an operator has cordoned, or that is off', () => {
    const cordon = { reason: 'disk', by: 'eve', at: 1 };
    const confirmedOff = { at: 1, incident: 'i' };
    for (const o of [{ cordon }, { confirmedOff }, { enrolled: false }])
      expect(steps('down', { nodes: [node('a', 'DEGRADED', ['backend'], o), ...up('b', 'c', 'd')] })).toEqual([]);
  });

  it.each(['UP', 'SUSPECT', 'DOWN', 'LEFT', 'UNKNOWN'] as const)('is nothing for a node that is %s', (verdict) => {
    expect(steps('down', { nodes: [node('a', verdict, ['backend']), ...up('b', 'c', 'd')] })).toEqual([]);
  });

  it('is nothing for a network that is silent for most: it is the network, not its nodes', () => {
    const most = [cut('a', 'backend'), cut('b', 'backend'), cut('c', 'backend', 'management'), ...up('d', 'e')];
    expect([...networksDown(most)]).toEqual(['backend']);
    for (const policy of ['drain', 'down'] as const) expect(steps(policy, { nodes: most })).toEqual([['c', policy]]);
    const half = [cut('a', 'backend'), cut('b', 'backend'), ...up('c', 'd')];
    expect(steps('drain', { nodes: half })).toEqual([
      ['a', 'drain'],
      ['b', 'drain'],
    ]);
    expect(steps('drain', { nodes: [cut('a', 'backend')] })).toEqual([['a', 'drain']]);
  });
});

describe('a node that is DEGRADED', () => {
  const avoided = (policy: DegradedSettings['policy'], n = five[0]!, nodes = five): string | undefined =>
    avoidedBecause(n, policy, () => networksDown(nodes));

  it('gets nothing new from the first moment on, unless the policy is only to alarm', () => {
    expect(avoided('drain')).toBe('it is silent on backend');
    expect(avoided('down')).toBe('it is silent on backend');
    expect(avoided('alarm')).toBeUndefined();
    expect(avoided('drain', up('b')[0])).toBeUndefined();
  });

  it('serves on where the whole network is down', () => {
    const all = ['a', 'b', 'c'].map((n) => cut(n, 'backend'));
    expect(avoided('drain', all[0], all)).toBeUndefined();
  });
});
