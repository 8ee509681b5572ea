import { describe, expect, it } from 'vitest';
import { aNode, aWorkload } from '../testing/records.js';
import { refusedForget, type ForgetFacts } from './forgettable.js';

const workload = aWorkload('db', { generation: 1, assignment: { node: 'n-1', generation: 1 } });
const unheard = aNode('n-1', { state: 'Unknown', status: 'Unallocated' });
delete unheard.bootId;
const sut = (o: Partial<ForgetFacts>): string | undefined =>
  refusedForget({ workload, node: unheard, heard: false, reason: undefined, ...o })?.message;

describe('a workload is forgotten', () => {
  it('when its stop was read back, or it is assigned nowhere', () => {
    expect(sut({ workload: { ...workload, desired: 'stopped' } })).toBeUndefined();
    expect(sut({ workload: aWorkload('db') })).toBeUndefined();
  });

  it('by an operator’s word on a node that was never heard, and not without it', () => {
    expect(sut({})).toContain('muster workload delete db --reason');
    expect(sut({ reason: 'never came' })).toBeUndefined();
    expect(sut({ reason: 'never came', node: undefined })).toBeUndefined();
    const owed = { ...workload, desired: 'stopped' as const, stop: { cause: 'put', attempt: 0 } };
    expect(sut({ reason: 'never came', workload: owed })).toBeUndefined();
  });

  it('by nobody’s word on a node that has spoken: it may run there', () => {
    expect(sut({ reason: 'trust me', heard: true })).toContain('read back');
    expect(sut({ reason: 'trust me', node: aNode('n-1') })).toContain('muster incident confirm n-1');
    const verdict = { verdict: 'DOWN' as const, networks: [], epoch: 1, seq: 1, at: 1, bootId: 'b' };
    expect(sut({ reason: 'trust me', node: { ...unheard, verdict } })).toContain('read back');
  });
});
