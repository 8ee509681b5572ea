import { describe, expect, it } from 'vitest';
import { agentObserver, type LifeSeen } from '#contracts';
import { MOST_AGENTS, MOST_DETECTORS, newestSeen } from './newest-seen.js';

const seen = (at: number): LifeSeen => ({ place: '10.0.0.1 22', channels: ['ssh'], at });

describe('who has seen a host live', () => {
  it('is kept by age, and however many nodes are asked, no detector goes for them', () => {
    const all: Record<string, LifeSeen> = { 'detector-1': seen(1) };
    for (let i = 0; i < 40; i++) all[agentObserver(`n-${i}`)] = seen(100 + i);
    const kept = newestSeen(all);
    expect(Object.keys(kept)).toHaveLength(MOST_AGENTS + 1);
    expect(kept['detector-1']).toEqual(seen(1));
    expect(kept[agentObserver('n-39')]).toBeDefined();
    expect(kept[agentObserver('n-31')]).toBeUndefined();
    for (let i = 2; i < 40; i++) all[`detector-${i}`] = seen(i);
    expect(Object.keys(newestSeen(all))).toHaveLength(MOST_AGENTS + MOST_DETECTORS);
  });
});
