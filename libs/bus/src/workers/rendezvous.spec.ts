import { describe, expect, it } from 'vitest';
import { assignByRendezvous } from './rendezvous.js';

const nodes = Array.from({ length: 3000 }, (_, i) => `node-${String(i).padStart(4, '0')}`);
const workers = ['fencer-1', 'fencer-2', 'fencer-3'];

describe('rendezvous', () => {
  it('answers nobody where nobody is', () => expect(assignByRendezvous([], 'n')).toBeUndefined());

  it('does not depend on the order of the workers', () => {
    for (const node of nodes)
      expect(assignByRendezvous([...workers].reverse(), node)).toBe(assignByRendezvous(workers, node));
  });

  it('spreads nodes evenly although the names differ in one letter', () => {
    for (const worker of workers) {
      const share = nodes.filter((n) => assignByRendezvous(workers, n) === worker).length / nodes.length;
      expect(share).toBeGreaterThan(0.28);
      expect(share).toBeLessThan(0.39);
    }
  });

  it('moves only the nodes of a worker that left', () => {
    for (const node of nodes) {
      const before = assignByRendezvous(workers, node);
      if (before !== 'fencer-2') expect(assignByRendezvous(['fencer-1', 'fencer-3'], node)).toBe(before);
    }
  });
});
