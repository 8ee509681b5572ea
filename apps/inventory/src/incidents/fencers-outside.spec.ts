import { describe, expect, it } from 'vitest';
import type { WorkerRecord } from '#contracts';
import { aNode } from '../testing/records.js';
import { fencersOutside } from './fencers-outside.js';

describe('fencers outside of a node', () => {
  const node = aNode('a-1', { networks: { management: { address: '10.0.0.1' } } });
  const on = (host: string, o: Partial<WorkerRecord> = {}): number =>
    fencersOutside(
      [{ service: 'fencer', id: 'w', drivers: [], incarnation: 'x', host, startedAt: 1, beat: 1, ...o }],
      node,
    );

  it('are those on any other host', () => {
    expect(on('control')).toBe(1);
    expect(on('control', { service: 'provisioner' })).toBe(0);
    expect(on('control', { addresses: ['10.0.0.9'] })).toBe(1);
  });
  it.each(['a-1', 'A', 'a.rack.example.org', 'a-1.example.org', '10.0.0.1'])('are not one on %s', (host) => {
    expect(on(host)).toBe(0);
  });

  it('are not one that has an address of it, whatever its host is called', () => {
    expect(on('ip-10-0-0-1', { addresses: ['10.9.0.9', '10.0.0.1'] })).toBe(0);
  });
});
