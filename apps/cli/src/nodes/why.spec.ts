import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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
      networks: { management: { health: 'abstains', misses: 0 }, backend: { health: 'mute', misses: 3 } },
    },
    { observer: 'e-5', stance: 'absent', wordless: 'never-heard', networks: {} },
    { observer: 'f-6', stance: 'absent', wordless: 'no-word', reportAgeMs: 900, networks: {} },
    { observer: 'g-7', stance: 'absent', wordless: 'no-answer', polled: true, reportAgeMs: 200, networks: {} },
  ],
  counts: {
    assigned: 2,
    accusers: 0,
    members: 7,
    sightedReporters: 3,
    sighted: false,
    ownReportAgeMs: 400,
    ownProbe: { echo: ['management'], ssh: 'banner', ageMs: 120 },
    lifeLooks: [{ by: 'b-2', ssh: 'silent', icmp: 'reply', port: 'cannot', agentPort: 'unreachable', spoke: ['icmp'] }],
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

  it('is one sentence, a matrix of observers and networks, and what was counted', async () => {
    const { stdout } = await sut.call(['node', 'why', 'a-1'], { terminal: 120, env: { NO_COLOR: '1' } });
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^a-1: DEGRADED on backend since \S+ \S+ \(5\.0 s\): Silent on backend\.$/),
      'OBSERVER      COUNTS  REPORT                    MANAGEMENT                BACKEND',
      'b-2           hears   0.3 s ago                 heard 0.3 ms, 2.5 % lost  silent 7',
      'c-3 (polled)  absent  4.2 s ago                 stale                     -',
      'd-4           absent  0.1 s ago                 abstains                  cannot send',
      'e-5           absent  never heard               -                         -',
      'f-6           absent  0.9 s ago, no word of it  -                         -',
      'g-7 (polled)  absent  0.2 s ago, no answer      -                         -',
      '  reports down 0 of 2 polled, 2 needed, and 0 of 4 assigned, 3 needed',
      '  hears it     1: b-2',
      '  no vote      5: c-3 (stale 4.2 s), d-4 (abstains), e-5 (never heard), f-6 (no word of it, report 0.9 s old), g-7 (no answer)',
      '  silent       management to 0 of 4, backend to 1 of 4',
      '  monitor      not enough, so it calls nobody dead: 3 of 7 members report beside it, 4 needed',
      '  own probe    echo on management, ssh banner, 0.1 s old',
      "  asked        b-2 ssh silent, ping reply, closed port cannot, its agent's port unreachable",
      '  own report   0.4 s old',
      '',
    ]);
  });

  it('is a fact a line in a pipe', async () => {
    const { stdout } = await sut.call(['node', 'evidence', 'a-1']);
    expect(stdout).toContain('a-1: DEGRADED on backend since 2026-11-21T20:15:00.000Z: Silent on backend.\n');
    expect(stdout).toContain('b-2: backend: silent 7\n');
    expect(stdout).toContain('e-5: report: never heard\n');
    expect(stdout).toContain('a-1: hears it: 1: b-2\n');
    expect(stdout).toContain('a-1: own report: 0.4 s old\n');
    expect(stdout).not.toContain('\u001b');
  });

  it('names the stance `accuses` as one that reports the node down', async () => {
    const [first] = evidence.observers;
    sut.on('GET /v1/nodes/a-1/evidence', { ...evidence, observers: [{ ...first, stance: 'accuses' }] });
    const { stdout } = await sut.call(['node', 'why', 'a-1']);
    expect(stdout).toContain('b-2: counts: reports down\n');
    expect(stdout).not.toContain('accuses');
  });

  it('has colours on a terminal, and none where they are not wanted', async () => {
    const red = '\u001b[31msilent 7\u001b[0m';
    const call = async (env: Record<string, string>): Promise<string> =>
      (await sut.call(['node', 'why', 'a-1'], { terminal: 120, env })).stdout;
    expect(await call({ TERM: 'xterm' })).toContain(red);
    expect(await call({ TERM: 'xterm', NO_COLOR: '1' })).not.toContain('\u001b');
  });

  it('says in a small fleet how many must report it down, and of two members that the witness counts', async () => {
    const of = async (counts: Partial<NonNullable<NodeEvidence['counts']>>): Promise<string> => {
      const observers = evidence.observers.filter((o) => o.polled !== true);
      const all = { ...evidence.counts, assigned: 4, accusers: 3, ...counts };
      sut.on('GET /v1/nodes/a-1/evidence', { ...evidence, observers, counts: all });
      return (await sut.call(['node', 'why', 'a-1'])).stdout;
    };
    expect(await of({})).toContain('a-1: reports down: 3 of 4 observers, 3 needed\n');
    expect(await of({ members: 4, sighted: true })).toContain(
      'a-1: monitor: enough: 3 of 4 members report beside it, 3 needed\n',
    );
    expect(await of({ members: 2, sightedReporters: 1 })).toContain(
      'a-1: monitor: not enough, so it calls nobody dead: 1 of 2 members report beside it, 1 needed, and of two members also the witness\n',
    );
  });

  it('asks for a moment of the past, and says that what it shows was published then', async () => {
    sut.on('GET /v1/nodes/a-1/evidence', { ...evidence, source: 'stored' });
    const { stdout } = await sut.call(['node', 'why', 'a-1', '--at', '2025-11-21T20:15:05+01:00']);
    expect(sut.received[0]?.url).toBe('/v1/nodes/a-1/evidence?at=2025-11-21T19%3A15%3A05.000Z');
    expect(stdout).toContain('Silent on backend. (as published at 2026-11-21T20:15:05.000Z)\n');
  });

  it('says that no detector judges it now, where what it shows is older', async () => {
    sut.on('GET /v1/nodes/a-1/evidence', { ...evidence, source: 'stored' });
    const { stdout } = await sut.call(['node', 'why', 'a-1']);
    expect(stdout).toContain('(no detector judges it now; as published at 2026-11-21T20:15:05.000Z)\n');
    const { counts: _none, ...recorded } = { ...evidence, observers: [], networks: [] };
    sut.on('GET /v1/nodes/a-1/evidence', recorded);
    expect((await sut.call(['node', 'why', 'a-1'])).stdout).toContain('a-1: evidence: not kept; ');
  });

  it('refuses what is no time before it asks, and says what is kept where the time is before that', async () => {
    const wrong = await sut.call(['node', 'why', 'a-1', '--at', 'yesterday']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--at: "yesterday" is no time')]);
    expect(sut.received).toEqual([]);
    const detail = 'no verdict on a-1 is kept from then; what is kept begins at 2026-11-20T20:15:00.000Z';
    sut.on('GET /v1/nodes/a-1/evidence', { code: 'NOT_FOUND', detail }, 404);
    const early = await sut.call(['node', 'why', 'a-1', '--at', '3d']);
    expect([early.code, early.stdout, early.stderr]).toEqual([1, '', expect.stringContaining(detail)]);
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
