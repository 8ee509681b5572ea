import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { defaultStorm, VerdictKinds, type IncidentRecord, type ObserverEvidence, type SshSign } from '#contracts';
import { aNode, anIncident, aVerdict, enforced, anOwnProbe } from '../testing/records.js';
import { decideIncident } from '#domain/incident/decide-incident.js';
import type { GateFacts } from '#domain/incident/gates.js';

const node = aNode('n-1');
const evidence = aVerdict('n-1').evidence;
const hearing: ObserverEvidence = {
  observer: 'n-2',
  network: 'management',
  misses: 0,
  rttUs: 300,
  reportAgeMs: 100,
  stance: 'hears',
};
const degraded = aVerdict('n-1', {
  verdict: 'DEGRADED',
  networks: ['backend'],
  evidence: { ...evidence, observers: [hearing], accusers: 0 },
});
const settings = (policy: 'alarm' | 'drain' | 'down' = 'down') => ({
  ...enforced(),
  degraded: { policy, after: 30_000 },
});
const incident = (o: Partial<IncidentRecord> = {}): IncidentRecord => anIncident('n-1', { degraded: true, ...o });

/** As the conductor gathers it: everything known, a calm fleet, and the power read. */
const facts = (o: Partial<GateFacts> = {}): GateFacts => ({
  cause: 'auto',
  degraded: true,
  node,
  detector: { fresh: true, sighted: true, members: 5, reporters: 5 },
  verdict: degraded,
  settings: settings(),
  reservedBy: { known: true },
  power: 'on',
  storm: {
    limits: defaultStorm,
    members: 5,
    silent: [],
    unrecovered: [],
    grants: [],
    domains: { default: { members: 5 } },
    domainOf: () => 'default',
  },
  broker: { servers: ['10.9.0.1'], total: 1, onThisNode: [], doubtful: [], unresolved: [] },
  otherFencers: 2,
  wallNow: 1_000_000,
  ...o,
});
const released: NonNullable<IncidentRecord['released']> = {
  by: 'eve',
  reason: 'it must go',
  at: 1,
  gates: ['LIFE_SIGN'],
  force: true,
};

describe('an incident of a node that stays DEGRADED, where the policy treats that as DOWN', () => {
  it('is held by the signs of life, and stands while that lasts', () => {
    for (const phase of ['investigating', 'suppressed', 'fencing'] as const)
      for (const permitted of [false, true])
        expect(decideIncident(incident({ phase }), facts(), permitted)).toMatchObject({
          do: 'suppress',
          gate: { gate: 'LIFE_SIGN' },
        });
  });

  it('goes on when an operator releases it', () => {
    expect(decideIncident(incident({ released }), facts(), false).do).toBe('fence');
  });

  it('goes the normal way when the node dies', () => {
    expect(decideIncident(incident({ phase: 'suppressed' }), facts({ verdict: aVerdict('n-1') }), false).do).toBe(
      'fence',
    );
  });

  it.each(['UP', 'LEFT'] as const)('is over when the node is %s', (verdict) => {
    expect(
      decideIncident(incident({ phase: 'suppressed' }), facts({ verdict: { ...degraded, verdict } }), false).do,
    ).toBe('cancel');
  });

  it('is over when the policy is another one, unless an operator wants the node off all the same', () => {
    for (const policy of ['alarm', 'drain'] as const) {
      const f = facts({ settings: settings(policy) });
      expect(decideIncident(incident({ phase: 'suppressed' }), f, false).do).toBe('cancel');
      expect(decideIncident(incident({ released }), f, false).do).toBe('fence');
    }
    const dead = facts({ settings: settings('alarm'), verdict: aVerdict('n-1') });
    expect(decideIncident(incident({ phase: 'suppressed' }), dead, false).do).toBe('fence');
  });

  it('is none that any other DEGRADED node gets: that ends an incident as before', () => {
    const { degraded: _no, ...plain } = incident({ phase: 'fencing' });
    expect(decideIncident(plain, facts({ degraded: false }), true).do).toBe('cancel');
  });

  it('is never a power-off while anybody has an echo, unless an operator has released it', () => {
    const stances = fc.constantFrom<ObserverEvidence['stance']>('accuses', 'hears', 'absent');
    const ssh = fc.constantFrom<SshSign>('banner', 'refused', 'silent', 'not-tried');
    const echo = fc.subarray(['management', 'backend']);
    const phases = fc.constantFrom('investigating' as const, 'suppressed' as const, 'fencing' as const);
    const policies = fc.constantFrom('alarm' as const, 'drain' as const, 'down' as const);
    let fenced = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...VerdictKinds),
        fc.array(stances, { maxLength: 4 }),
        ssh,
        echo,
        phases,
        policies,
        fc.boolean(),
        (verdict, said, sign, echoes, phase, policy, permitted) => {
          const observers = said.map((stance, i) => ({ ...hearing, observer: `n-${i + 2}`, stance }));
          const v = aVerdict('n-1', {
            verdict,
            evidence: { ...evidence, observers, ownProbe: anOwnProbe({ echo: echoes, ssh: sign }) },
          });
          const d = decideIncident(incident({ phase }), facts({ verdict: v, settings: settings(policy) }), permitted);
          if (d.do !== 'fence') return;
          fenced += 1;
          expect(verdict).toBe('DOWN');
          expect(echoes).toEqual([]);
          expect(said).not.toContain('hears');
        },
      ),
      { numRuns: 3_000, seed: 6 },
    );
    expect(fenced).toBeGreaterThan(0);
  });
});
