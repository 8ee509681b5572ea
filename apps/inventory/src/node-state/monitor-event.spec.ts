import { describe, expect, it } from 'vitest';
import { aNode } from '../testing/fixtures.js';
import { applyMonitorEvent } from './monitor-event.js';

const word = { label: 'a', serial: '1', addr: '10.0.0.9' };

describe('the word of an external monitor', () => {
  it('makes an unknown node known: Unallocated, Discovered, without a host group and without an agent', () => {
    const n = applyMonitorEvent(undefined, 'discovered', word, 1);
    expect(n).toMatchObject({
      name: 'a-1',
      status: 'Unallocated',
      prevStatus: 'Incomplete',
      state: 'Discovered',
      prevState: 'Unknown',
      enrolled: false,
    });
    expect(n?.hostGroup).toBeUndefined();
    expect(applyMonitorEvent(undefined, 'disappeared', word, 1)).toBeUndefined();
  });
  it('sets the state of a node without an agent, and a new address with it', () => {
    const plain = aNode('a-1', { enrolled: false });
    expect(applyMonitorEvent(plain, 'disappeared', word, 1)?.state).toBe('Disappeared');
    const gone = aNode('a-1', { enrolled: false, state: 'Disappeared', status: 'Allocated' });
    expect(applyMonitorEvent(gone, 'discovered', word, 1)).toMatchObject({
      state: 'Discovered',
      networks: { management: { address: '10.0.0.9' } },
      pendingReturn: { reason: 'disappeared' },
    });
  });
  it('is only shown for a node with an agent', () => {
    const n = aNode('a-1', { status: 'Allocated' });
    const after = applyMonitorEvent(n, 'disappeared', word, 1);
    expect(after).toEqual({ ...n, external: { event: 'disappeared', address: '10.0.0.9', at: 1 } });
    expect(after && applyMonitorEvent(after, 'disappeared', word, 2)).toBeUndefined();
  });
});
