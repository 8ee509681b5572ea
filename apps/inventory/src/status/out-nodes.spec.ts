import { describe, expect, it } from 'vitest';
import type { NodeView, OutReason } from '#contracts';
import { aNode } from '../testing/records.js';
import { outNodes } from './out-nodes.js';

const out = (name: string, codes: OutReason['code'][], o: Parameters<typeof aNode>[1] = {}): NodeView => ({
  ...aNode(name, o),
  revision: 1,
  inService: codes.length === 0,
  reasons: codes.map((code) => ({ code, detail: `for ${code}` })),
});
const cordon = { by: 'ann', reason: 'disk', at: 1 };

describe('nodes out of service', () => {
  it('come the worst first: with work before without, unwanted before wanted, and by their worst reason', () => {
    const nodes = [
      out('a-1', ['CORDONED'], { cordon }),
      out('b-2', ['VIEW_STALE']),
      out('c-3', ['CORDONED', 'STATE'], { cordon, state: 'Disappeared' }),
      out('d-4', ['STATE', 'INCIDENT'], { state: 'Disappeared' }),
      out('e-5', []),
      out('f-6', ['STATUS'], { status: 'Unallocated' }),
      out('g-7', ['RESERVED']),
    ];
    const told = outNodes(nodes, (n) => n === 'c-3');
    expect(told.map((n) => [n.node, n.planned])).toEqual([
      ['c-3', false],
      ['d-4', false],
      ['b-2', false],
      ['f-6', true],
      ['g-7', true],
      ['a-1', true],
    ]);
    expect(told[1]).toMatchObject({
      reasons: ['INCIDENT: for INCIDENT', 'STATE: for STATE'],
      remedy: { command: 'muster incident get d-4' },
    });
  });
});
