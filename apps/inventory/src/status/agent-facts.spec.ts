import { describe, expect, it } from 'vitest';
import type { AgentMetrics, Report } from '#contracts';
import { agentFacts } from './agent-facts.js';

const report = (peers: Report['peers']): Report => ({
  v: 1,
  node: 'a-1',
  bootId: 'b',
  epoch: 1,
  seq: 1,
  listVersion: 1,
  networks: ['backend', 'management'],
  peers,
  health: { abstain: false, sendErrors: {}, loopGapMs: 0 },
});

describe('what a doctor is told of an agent', () => {
  it('is whom it does not hear on which network, by as many misses as raise a suspicion', () => {
    const heard = {
      report: report([
        ['b-2', [[0, 300], [3, -1]]], // prettier-ignore
        ['c-3', [[2, -1], [9, -1]]], // prettier-ignore
      ]),
      heardAt: 1000,
    };
    expect(agentFacts('a-1', heard, 1700, 3)).toEqual({
      node: 'a-1',
      ageMs: 700,
      misses: { management: ['b-2', 'c-3'] },
    });
  });

  it('is its version and its clock where it tells them', () => {
    const metrics = { version: '0.1.0', wallMs: 5 } as AgentMetrics;
    expect(agentFacts('a-1', { report: report([]), heardAt: 0, metrics, clockOffMs: -3000 }, 0, 3)).toEqual({
      node: 'a-1',
      ageMs: 0,
      version: '0.1.0',
      clockOffMs: -3000,
    });
  });

  it('names few of many', () => {
    const peers = Array.from({ length: 50 }, (_, i): Report['peers'][number] => [`p-${i}`, [[9, -1], [0, 1]]]); // prettier-ignore
    expect(agentFacts('a-1', { report: report(peers), heardAt: 0 }, 0, 3).misses?.['backend']).toHaveLength(8);
  });

  it('is its name alone where it was not heard', () => {
    expect(agentFacts('a-1', undefined, 0, 3)).toEqual({ node: 'a-1' });
  });
});
