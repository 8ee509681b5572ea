import { describe, expect, it } from 'vitest';
import { aNode } from '../testing/fixtures.js';
import { isShutOut, isUnkept, isWorthless } from '../plan/agents/worthless-users.js';
import { refusedRevocation, revokedNode } from './revocation.js';

const nothing = { workloads: [] };
const refusal = (f: Parameters<typeof refusedRevocation>[1], force = false) =>
  refusedRevocation(aNode('n1'), f, force)?.code;

describe('the revocation of an agent', () => {
  it('is refused while something rests on its node, unless it is forced', () => {
    const facts = {
      NODE_RESERVED: { ...nothing, hold: { job: 'j1', generation: 1, at: 1 } },
      NODE_BUSY: { ...nothing, incident: { id: 'i1', phase: 'fencing' as const } },
      WORKLOADS_PRESENT: { workloads: ['db'] },
    };
    for (const [code, f] of Object.entries(facts)) expect([refusal(f), refusal(f, true)]).toEqual([code, undefined]);
    expect(refusal(nothing)).toBeUndefined();
    const external = aNode('n1', { enrolled: false });
    expect(refusedRevocation(external, nothing, true)).toMatchObject({ code: 'ILLEGAL_TRANSITION' });
  });

  it('leaves a node that is no member, that nobody hears, and whose users no record names', () => {
    const node = aNode('n1', { state: 'Discovered', agentKeys: ['U1'] });
    const revoked = revokedNode(node, 'ann', 'stolen', 5);
    expect(revoked).toMatchObject({
      enrolled: false,
      state: 'Unknown',
      prevState: 'Discovered',
      revoked: { by: 'ann', at: 5, reason: 'stolen' },
    });
    expect([isWorthless('U1', node), isWorthless('U1', revoked), isWorthless('U1', undefined)]).toEqual([
      false,
      true,
      true,
    ]);
    expect(revoked && revokedNode(revoked, 'bob', 'again', 6)).toBeUndefined();
  });

  it('outlives the record for users that were issued before it, and for no others', () => {
    const user = (issuedAt: number) => ({ key: 'U1', issuedAt });
    const named = aNode('n1', { agentKeys: ['U1'] });
    for (const record of [undefined, aNode('n1')])
      expect([5, 6].map((at) => isShutOut(user(at), { at: 5 }, record))).toEqual([true, false]);
    expect([isShutOut(user(5), undefined, undefined), isShutOut(user(5), { at: 5 }, named)]).toEqual([false, false]);
  });

  it('takes back what was issued for a node that has not come yet', () => {
    const { enrolled: _no, ...node } = aNode('n1', { awaited: true });
    expect(revokedNode({ ...node, enrolled: false }, 'ann', 'wrong', 5)?.awaited).toBeUndefined();
  });

  it('is kept beside the record where that is missing, or is one of before the last', () => {
    expect(isUnkept({ at: 5 }, undefined)).toBe(true);
    expect(isUnkept({ at: 5 }, { at: 4 })).toBe(true);
    expect(isUnkept({ at: 5 }, { at: 5 })).toBe(false);
    expect(isUnkept({ at: 5 }, { at: 6 })).toBe(false);
  });
});
