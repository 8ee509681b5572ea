import { describe, expect, it } from 'vitest';
import type { NodeRecord } from '#contracts';
import { aNode } from '../../testing/records.js';
import { hasMissedVerdict } from './missed-verdict.js';

describe('a verdict that never arrived', () => {
  const up = { verdict: 'UP' as const, networks: [], epoch: 2, seq: 5, at: 1, bootId: 'b1' };
  const down = { ...up, verdict: 'DOWN' as const };
  const off = { at: 1, incident: 'i', bootId: 'b1' };
  const misses = (o: Partial<NodeRecord>, notUp: Parameters<typeof hasMissedVerdict>[1]['notUp'] = {}): boolean =>
    hasMissedVerdict(aNode('n-1', o), { epoch: 2, notUp });

  it('is one that the beacon knows newer', () => {
    expect(misses({ verdict: up }, { 'n-1': { verdict: 'DOWN', seq: 6 } })).toBe(true);
    expect(misses({ verdict: down }, { 'n-1': { verdict: 'DOWN', seq: 5 } })).toBe(false);
  });
  it('is the UP of a node that is recorded otherwise', () => {
    expect(misses({ verdict: down })).toBe(true);
    expect(misses({ verdict: up })).toBe(false);
    expect(misses({})).toBe(false);
  });
  it('is the UP of a node that counts as powered off, whatever was heard of it last', () => {
    expect(misses({ verdict: down, confirmedOff: off })).toBe(true);
    expect(misses({ verdict: up, confirmedOff: off })).toBe(true);
    expect(misses({ verdict: down, confirmedOff: off }, { 'n-1': { verdict: 'DOWN', seq: 5 } })).toBe(false);
  });
  it('is not awaited for a node without an agent', () => {
    expect(misses({ enrolled: false, verdict: down })).toBe(false);
  });
});
