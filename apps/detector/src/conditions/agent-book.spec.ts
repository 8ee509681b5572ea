import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentHealth, AgentMetrics, Report } from '#contracts';
import { ABSTAINS_MS, AgentBook, FORGED_MS, SAID_MS, STRANGER_HOLD_MS } from './agent-book.js';

const metrics = (mac: number): AgentMetrics => ({
  rssBytes: 1,
  cpuMs: 1,
  sent: 1,
  received: 1,
  dropped: mac > 0 ? { mac, size: 3 } : { size: 3 },
  rejoin: { runs: {}, lost: 0, greeted: 0, joined: 0, lostNow: 0 },
  standstills: 0,
});
const report = (health: Partial<AgentHealth> = {}, over: Partial<Report> = {}): Report => ({
  v: 1,
  node: 'a',
  bootId: 'b',
  epoch: 1,
  seq: 1,
  listVersion: 1,
  networks: ['backend'],
  peers: [],
  health: { abstain: false, sendErrors: {}, loopGapMs: 1, ...health },
  ...over,
});

describe('what agents say of themselves', () => {
  let book: AgentBook;
  beforeEach(() => {
    book = new AgentBook();
  });
  const ids = (now: number): string[] => book.conditions(now).map((c) => `${c.code}=${c.subject}`);

  it('is told in their own words, and over when they no longer say it or no longer speak', () => {
    const warnings = ['buffer: 1 of 2 bytes on backend', 'the lister failed'];
    book.hear(report({ warnings }), 0);
    expect(book.conditions(0)).toEqual([
      { code: 'agent-health', subject: 'a', severity: 'warning', message: `a: ${warnings.join(', ')}` },
    ]);
    expect(ids(SAID_MS)).toEqual(['agent-health=a']);
    expect(ids(SAID_MS + 1)).toEqual([]);
    book.hear(report(), 100);
    expect(ids(100)).toEqual([]);
  });

  it('about the list of peers is a condition of its own, about two machines a verdict', () => {
    book.hear(report({ warnings: ['peer list: empty', 'duplicate: two machines speak as b'] }), 0);
    expect(ids(0)).toEqual(['peer-list=a']);
  });

  it('names who abstains for long, not who does for a moment, and counts anew after a pause', () => {
    const abstains = { abstain: true, reason: 'its loop stood still' };
    for (let now = 0; now < ABSTAINS_MS; now += 1000) {
      book.hear(report(abstains), now);
      expect(ids(now)).toEqual([]);
    }
    book.hear(report(abstains), ABSTAINS_MS);
    expect(book.conditions(ABSTAINS_MS)[0]?.message).toContain('its loop stood still');
    book.hear(report(), ABSTAINS_MS + 1000);
    book.hear(report(abstains), ABSTAINS_MS + 2000);
    expect(ids(ABSTAINS_MS + 2000)).toEqual([]);
    const late = ABSTAINS_MS + 3000 + SAID_MS;
    book.hear(report(abstains), late);
    expect(ids(late)).toEqual([]);
  });

  it('tells of datagrams with a wrong signature for as long as more come, and a while after', () => {
    book.hear(report({ metrics: metrics(5) }), 0);
    expect(ids(0)).toEqual([]);
    book.hear(report({ metrics: metrics(5) }), 1000);
    expect(ids(1000)).toEqual([]);
    book.hear(report({ metrics: metrics(6) }), 2000);
    book.hear(report(), 3000);
    expect(ids(2000 + FORGED_MS)).toContain('auth-failure=a');
    expect(ids(2001 + FORGED_MS)).toEqual([]);
  });

  it('tells of those that a new process has counted since its start', () => {
    book.hear(report({ metrics: metrics(5) }), 0);
    book.hear(report({ metrics: metrics(2) }, { epoch: 2 }), 1000);
    expect(ids(1000)).toEqual(['auth-failure=a']);
  });

  it('tells of the first one, too', () => {
    book.hear(report({ metrics: metrics(0) }), 0);
    book.hear(report({ metrics: metrics(1) }), 1000);
    expect(ids(1000)).toEqual(['auth-failure=a']);
  });

  it('names a stranger that goes on reporting, and nobody who is being let in', () => {
    book.hearStranger('x', 0);
    expect(ids(0)).toEqual([]);
    book.hearStranger('x', STRANGER_HOLD_MS);
    expect(ids(STRANGER_HOLD_MS)).toEqual(['auth-failure=x']);
    expect(ids(STRANGER_HOLD_MS + SAID_MS + 1)).toEqual([]);
    book.hearStranger('x', 60_000);
    expect(ids(60_000)).toEqual([]);
  });

  it('keeps a limited number of strangers in mind', () => {
    for (let i = 0; i < 1000; i++) for (const now of [0, STRANGER_HOLD_MS]) book.hearStranger(`x${i}`, now);
    expect(ids(STRANGER_HOLD_MS)).toHaveLength(100);
  });

  it('tells of what the monitor’s own socket gets', () => {
    book.hearForged(0, 0);
    expect(ids(0)).toEqual([]);
    book.hearForged(2, 1000);
    book.hearForged(2, 50_000);
    expect(ids(1000 + FORGED_MS)).toEqual(['auth-failure=fleet']);
    expect(ids(1001 + FORGED_MS)).toEqual([]);
  });

  it('forgets who is not watched any more', () => {
    book.hear(report({ warnings: ['w'] }), 0);
    book.keepOnly(new Set());
    expect(ids(0)).toEqual([]);
  });
});
