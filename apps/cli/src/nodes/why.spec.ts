import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NodeEvidence } from '#contracts';
import { MusterWithNodes } from '../testing/nodes.js';

const at = Date.UTC(2026, 10, 21, 20, 15);

const evidence: NodeEvidence = {
  node: 'a-1',
  source: 'now',
  asOf: at + 5_000,
  verdict: {
    node: 'a-1',
    verdict: 'DEGRADED',
    networks: ['backend'],
    epoch: 1,
    seq: 2,
    at: at + 5_000,
    reason: 'Silent on backend.',
  },
  since: at,
  networks: ['management', 'backend'],
  observers: [
    {
      observer: 'b-2',
      stance: 'hears',
      reportAgeMs: 300,
      networks: {
        management: { health: 'heard', misses: 0, rttUs: 310, lostPermille: 25 },
        backend: { health: 'silent', misses: 7 },
      },
    },
    {
      observer: 'c-3',
      stance: 'absent',
      polled: true,
      reportAgeMs: 4_200,
      networks: { management: { health: 'stale', misses: 0 } },
    },
    {
      observer: 'd-4',
      stance: 'absent',
      reportAgeMs: 100,
      networks: { management: { health: 'abstains', misses: 0 }, backend: { health: 'missing', misses: 3 } },
    },
  ],
  counts: {
    assigned: 3,
    accusers: 0,
    members: 4,
    sightedReporters: 2,
    ownReportAgeMs: 400,
    ownProbe: { echo: ['management'], ssh: 'banner', ageMs: 120 },
  },
};

describe('node why', () => {
  const sut = new MusterWithNodes();

  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  beforeEach(() => {
    sut.reset();
    sut.on('GET /v1/nodes/a-1/evidence', evidence);
  });

  it('is one sentence, a matrix of observers and networks, and what stands beside it', async () => {
    const { stdout } = await sut.call(['node', 'why', 'a-1'], { terminal: 120, env: { NO_COLOR: '1' } });
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^a-1: DEGRADED on backend since \S+ \S+: Silent on backend\.$/),
      'OBSERVER      COUNTS  MANAGEMENT                BACKEND',
      'b-2           hears   heard 0.3 ms, 2.5 % lost  silent 7',
      'c-3 (polled)  absent  stale 4.2 s               -',
      'd-4           absent  abstains                  missing 3',
      '  accusers   0 of 3 (1 polled)',
      '  own report 0.4 s old',
      '  monitor    echo on management, ssh banner, 0.1 s old',
      '  members    4, of which 2 others report',
      '',
    ]);
  });

  it('is a fact a line in a pipe', async () => {
    const { stdout } = await sut.call(['node', 'evidence', 'a-1']);
    expect(stdout).toContain('a-1: DEGRADED on backend since 2026-11-21T20:15:00.000Z: Silent on backend.\n');
    expect(stdout).toContain('b-2: backend: silent 7\n');
    expect(stdout).toContain('a-1: own report: 0.4 s old\n');
  });

  it('asks for a moment of the past, and says that what it shows was published then', async () => {
    sut.on('GET /v1/nodes/a-1/evidence', { ...evidence, source: 'stored' });
    const { stdout } = await sut.call(['node', 'why', 'a-1', '--at', '2026-11-21T20:15:05+01:00']);
    expect(sut.received[0]?.url).toBe('/v1/nodes/a-1/evidence?at=2026-11-21T20%3A15%3A05%2B01%3A00');
    expect(stdout).toContain('Silent on backend. (as published at 2026-11-21T20:15:05.000Z)\n');
  });

  it('has nothing to show of a node that was never judged', async () => {
    sut.on('GET /v1/nodes/a-1/evidence', { node: 'a-1', source: 'stored', verdict: null, networks: [], observers: [] });
    expect((await sut.call(['node', 'why', 'a-1'])).stdout).toBe('a-1: no verdict yet\n');
  });

  it('is the whole answer by -o', async () => {
    const { stdout } = await sut.call(['node', 'why', 'a-1', '-o', 'json']);
    expect(JSON.parse(stdout)).toEqual(evidence);
    expect((await sut.call(['node', 'why', 'a-1', '-o', 'yaml'])).stdout).toMatch(/^node: a-1\nsource: now\n/);
  });
});
