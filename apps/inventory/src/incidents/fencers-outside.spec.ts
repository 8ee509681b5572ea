import { describe, expect, it } from 'vitest';
import type { WorkerRecord } from '#contracts';
import { aNode } from '../testing/records.js';
import { fencersOutside } from './fencers-outside.js';

describe('fencers outside of a node', () => {
  const node = aNode('a-1', { networks: { management: { address: '10.0.0.1' } } });
  const on = (host: string, service: WorkerRecord['service'] = 'fencer'): number =>
    fencersOutside([{ service, id: 'w', drivers: [], incarnation: 'x', host, startedAt: 1, beat: 1 }], node);

  it('are those on any other host', () => {
    expect(on('control')).toBe(1);
    expect(on('control', 'provisioner')).toBe(0);
  });
  it.each(['a-1', 'A', 'a.rack.example.org', 'a-1.example.org', '10.0.0.1'])('are not one on %s', (host) => {
    expect(on(host)).toBe(0);
  });
});
