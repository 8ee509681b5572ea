import { describe, expect, it } from 'vitest';
import type { Beacon, NodeRecord, VerdictKind } from '#contracts';
import { unhealthyNodes } from './unhealthy-nodes.js';

const node = (name: string, verdict: VerdictKind, more: Partial<NodeRecord> = {}): NodeRecord =>
  ({
    name,
    enrolled: true,
    status: 'Allocated',
    verdict: { verdict, networks: verdict === 'DEGRADED' ? ['backend'] : [], epoch: 1, seq: 5, at: 0 },
    ...more,
  }) as NodeRecord;
const sut = (nodes: NodeRecord[], beacon?: Beacon, busy = false): [string, string][] =>
  unhealthyNodes(nodes, beacon, () => busy).map((t) => [t.node, t.verdict]);

describe('unhealthy nodes', () => {
  it('are those that are DEGRADED, SUSPECT or DOWN by their records, and no others', () => {
    const all = (['UP', 'DEGRADED', 'SUSPECT', 'DOWN', 'LEFT', 'UNKNOWN'] as const).map((v) => node(v, v));
    expect(unhealthyNodes(all, undefined, () => false)).toEqual([
      { node: 'DEGRADED', verdict: 'DEGRADED', networks: ['backend'] },
      { node: 'SUSPECT', verdict: 'SUSPECT', networks: [] },
      { node: 'DOWN', verdict: 'DOWN', networks: [] },
    ]);
  });

  it('are those too that so far only the beacon names', () => {
    const beacon = { epoch: 1, seq: 9, notUp: { a: { verdict: 'SUSPECT', seq: 8 } } } as unknown as Beacon;
    expect(sut([node('a', 'UP'), node('b', 'UP')], beacon)).toEqual([['a', 'SUSPECT']]);
  });

  it('are none that are known to be away, and no death where nothing is served', () => {
    const cordon = { by: 'ann', reason: 'disk', at: 0 };
    expect(sut([node('a', 'DOWN', { cordon }), node('b', 'DEGRADED', { enrolled: false })])).toEqual([]);
    expect(sut([node('a', 'DOWN', { confirmedOff: { incident: 'i', at: 0 } as never })])).toEqual([]);
    expect(sut([node('a', 'DOWN', { status: 'Unallocated' })])).toEqual([]);
    expect(sut([node('a', 'DOWN', { status: 'Unallocated' })], undefined, true)).toEqual([['a', 'DOWN']]);
  });
});
