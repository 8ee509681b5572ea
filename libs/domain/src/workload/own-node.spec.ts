import { describe, expect, it } from 'vitest';
import { isMassReturn, isOnItsWay } from './own-node.js';

const returned = { pendingReturn: { reason: 'reboot', at: 1 } };
// A record without what it does not need.
const node = (o: object): Parameters<typeof isOnItsWay>[0] =>
  ({ verdict: { verdict: 'UP' }, ...returned, ...o }) as Parameters<typeof isOnItsWay>[0];

describe('a node that is on its way', () => {
  it('is heard, and waits for nothing but its check', () => {
    expect(isOnItsWay(node({}))).toBe(true);
    expect(isOnItsWay(node({ verdict: { verdict: 'DEGRADED' } }))).toBe(true);
    expect(isOnItsWay(node({ pendingReturn: undefined }))).toBe(false);
    expect(isOnItsWay(node({ pendingReturn: { ...returned.pendingReturn, held: 'drift' } }))).toBe(false);
    expect(isOnItsWay(node({ cordon: { by: 'eve', at: 1, reason: 'disk' } }))).toBe(false);
    expect(isOnItsWay(node({ verdict: { verdict: 'DOWN' } }))).toBe(false);
    expect(isOnItsWay(node({ verdict: undefined }))).toBe(false);
  });
});

describe('a mass return', () => {
  it('is while less than half of the fleet serves', () => {
    expect([0, 1, 2, 3].map((inService) => isMassReturn({ members: 4, inService }))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(isMassReturn({ members: 1, inService: 0 })).toBe(true);
  });
});
