import { describe, expect, it } from 'vitest';
import type { AgentMetrics, Report } from '#contracts';
import { agentView } from './agents-view.js';

const metrics: AgentMetrics = {
  rssBytes: 1,
  cpuMs: 2,
  standstills: 0,
  sent: 3,
  received: 4,
  dropped: {},
  rejoin: { runs: {}, lost: 2, greeted: 0, joined: 1, lostNow: 1 },
};
const report: Report = {
  v: 1,
  node: 'a-1',
  bootId: 'b',
  epoch: 7,
  seq: 1,
  listVersion: 1,
  networks: ['management'],
  peers: [
    ['b-2', [[0, 300]]],
    ['c-3', [[9, -1]]],
  ],
  health: { abstain: false, sendErrors: {}, loopGapMs: 0, metrics },
};

describe('what is known of an agent', () => {
  it('is what it last said, and whether that is fresh', () => {
    const is = { node: 'a-1', fresh: true, epoch: 7, abstains: false, members: 1, lost: 1, metrics };
    expect(agentView('a-1', { report, heardAt: 1000, metrics }, 3500, 2500)).toEqual(is);
    expect(agentView('a-1', { report, heardAt: 1000, metrics }, 3501, 2500)).toEqual({ ...is, fresh: false });
  });

  it('is nothing of one that was not heard, and no counts of one that tells none', () => {
    expect(agentView('a-1', undefined, 0, 2500)).toEqual({ node: 'a-1', fresh: false });
    expect(agentView('a-1', { report, heardAt: 0 }, 0, 2500)).toEqual({
      node: 'a-1',
      fresh: true,
      epoch: 7,
      abstains: false,
      members: 2,
      lost: 0,
    });
  });
});
