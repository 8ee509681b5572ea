import { describe, expect, it } from 'vitest';
import type { NodeView, OutReason } from '#contracts';
import { aNode } from '../testing/records.js';
import { asLastSeen } from './as-last-seen.js';

const gap = 'the view of the records has a gap';
const seen = (name: string, reasons: OutReason[]): NodeView => ({
  ...aNode(name),
  revision: 1,
  inService: reasons.length === 0,
  reasons,
});

describe('nodes while the records cannot be followed', () => {
  const unknown: OutReason = { code: 'VIEW_STALE', detail: gap };
  const suspect: OutReason = { code: 'VIEW_STALE', detail: 'its last verdict is SUSPECT' };
  const cordoned: OutReason = { code: 'CORDONED', detail: 'cordoned by ann: disk' };
  const nodes = [seen('a-1', [unknown]), seen('b-2', [cordoned, unknown]), seen('c-3', [suspect, unknown])];

  it('are shown as they were, and are not all out', () => {
    const shown = asLastSeen(nodes, gap);
    expect(shown.map((n) => [n.name, n.inService, n.reasons])).toEqual([
      ['a-1', true, []],
      ['b-2', false, [cordoned]],
      ['c-3', false, [suspect]],
    ]);
  });

  it('are as they are where nothing is old', () => {
    expect(asLastSeen(nodes, undefined)).toBe(nodes);
  });
});
