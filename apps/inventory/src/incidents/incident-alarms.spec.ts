import { describe, expect, it } from '@jest/globals';
import type { IncidentRecord, ObserverEvidence, SshSign } from '#contracts';
import { anIncident, aVerdict } from '../testing/records.js';
import { alarmsOf } from './incident-alarms.js';

describe('the alarms of incidents', () => {
  const fencing = anIncident('n-1', { phase: 'fencing' });
  const of = (stuck: boolean, i = fencing) =>
    alarmsOf(
      [i],
      () => 'default',
      () => stuck,
    );

  it('tell of an order that nobody carries out', () => {
    expect(of(true)).toEqual([
      expect.objectContaining({ code: 'fencing-failed', subject: 'n-1', severity: 'critical' }),
    ]);
    expect(of(true)[0]?.message).toContain('no fencer');
  });
  describe('of a node that is held by a sign of life', () => {
    const held = (
      ssh: SshSign,
      stance: ObserverEvidence['stance'],
      o: Partial<IncidentRecord> = {},
    ): IncidentRecord => {
      const { evidence } = aVerdict('n-1');
      const observer = { observer: 'n-2', network: 'management', misses: 9, reportAgeMs: 100, stance };
      const verdict = aVerdict('n-1', {
        evidence: { ...evidence, observers: [observer], ownProbe: { echo: [], ssh, ageMs: 10 } },
      });
      const gates = [{ gate: 'LIFE_SIGN' as const, pass: false, detail: 'It lives.' }];
      return anIncident('n-1', { phase: 'suppressed', gate: 'LIFE_SIGN', gates, verdict, ...o });
    };
    const said = (i: IncidentRecord): string[] => of(false, i).map((a) => `${a.code}=${a.subject}: ${a.message}`);

    it('say that its agent is down where only ssh answers', () => {
      expect(said(held('banner', 'accuses'))).toEqual(['agent-down=n-1: It lives.']);
    });

    it('say that it can be reached in part where an agent still hears it, or something else answers', () => {
      expect(said(held('banner', 'hears'))).toEqual(['partial-reachability=n-1: It lives.']);
      expect(said(held('silent', 'hears'))).toEqual(['partial-reachability=n-1: It lives.']);
      expect(said(held('refused', 'accuses'))).toEqual(['partial-reachability=n-1: It lives.']);
    });

    it('are over with the incident', () => {
      expect(said(held('banner', 'accuses', { phase: 'cancelled' }))).toEqual([]);
      expect(said(held('banner', 'accuses', { phase: 'investigating' }))).toEqual([]);
    });
  });

  it('leave one alone that is on its way, and one that is through', () => {
    expect(of(false)).toEqual([]);
    expect(of(true, anIncident('n-1', { phase: 'recovering' }))).toEqual([]);
  });
});
