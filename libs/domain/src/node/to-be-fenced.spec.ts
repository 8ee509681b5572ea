import { describe, expect, it } from 'vitest';
import type { NodeRecord } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { isFencedAutomatically, isFencedByVerdict, whyNotFenced, type FenceabilityFacts } from './to-be-fenced.js';

const device = { id: 'bmc', driver: 'ipmitool', address: '10.0.9.1', options: {} };
const facts = (o: Partial<NodeRecord>, cause: FenceabilityFacts['cause'] = 'auto'): FenceabilityFacts => ({
  cause,
  node: aNode('n-1', { powerLevels: [[device]], ...o }),
  reservedBy: { known: true },
  otherFencers: 1,
});

describe('is to be fenced', () => {
  type Answers = [automatically: boolean, byVerdict: boolean, stops: string | undefined];
  it.each<[string, Partial<NodeRecord>, Answers]>([
    ['a node that serves', {}, [true, true, undefined]],
    // Whether it has an agent is asked before its incident is opened.
    ['a node without an agent', { enrolled: false }, [false, false, undefined]],
    [
      'a node whose fencing is manual',
      { fencing: 'manual' },
      [false, false, 'Its fencing is manual: an operator decides.'],
    ],
    [
      'a cordoned node',
      { cordon: { by: 'eve', reason: 'disk', at: 1 } },
      [true, false, 'It is cordoned by eve: disk.'],
    ],
    ['a node that is updated', { status: 'Maintenance' }, [true, false, 'Its status is Maintenance, not Allocated.']],
    [
      'a node that serves nothing',
      { status: 'Unallocated' },
      [true, false, 'Its status is Unallocated, not Allocated.'],
    ],
    ['a node without a device', { powerLevels: [] }, [true, true, 'It has no power device.']],
    // The mark keeps new work away until the check has passed; what was left there has to be recovered when it dies.
    [
      'a node that the system holds in maintenance',
      { maintenance: { reason: 'fenced', at: 1 } },
      [true, true, undefined],
    ],
    [
      'a node that is back in maintenance, and waits for its check',
      { maintenance: { reason: 'fenced', at: 1 }, pendingReturn: { reason: 'rebooted', at: 1 } },
      [true, true, undefined],
    ],
    [
      'a node whose re-setup has failed',
      {
        maintenance: { reason: 'resetup failed', at: 1 },
        pendingReturn: { reason: 'rebooted', at: 1, held: 'resetup failed' },
      },
      [true, true, undefined],
    ],
    ['a node that counts as off', { confirmedOff: { at: 1, incident: 'i' } }, [true, true, undefined]],
  ])('%s', (_what, o, answers) => {
    const f = facts(o);
    expect([isFencedAutomatically(f.node), isFencedByVerdict(f.node), whyNotFenced(f)]).toEqual(answers);
  });

  it('by hand also where its fencing is manual, and not past a cordon', () => {
    expect(whyNotFenced(facts({ fencing: 'manual' }, 'manual'))).toBeUndefined();
    expect(whyNotFenced(facts({ cordon: { by: 'eve', reason: 'disk', at: 1 } }, 'manual'))).toContain('cordoned');
  });
});
