import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import type { IncidentRecord, NodeRecord, Verdict } from '#contracts';
import { aNode, anIncident, anOwnProbe, aVerdict, enforced } from '../testing/records.js';
import { GateFactsService } from './gate-facts.js';

describe('how long a host has been hung', () => {
  let now: number;
  let told: (name: string, node: NodeRecord | undefined) => void;
  let sut: GateFactsService;
  const node = aNode('n-1', { verdict: aVerdict('n-1') });
  const refused: Verdict = aVerdict('n-1', {
    evidence: { ...aVerdict('n-1').evidence, ownProbe: anOwnProbe({ ssh: 'refused' }) },
  });
  const forMs = async (): Promise<number | undefined> => (await sut.gather(node, refused, { cause: 'auto' })).hungForMs;

  beforeEach(() => {
    now = 1_000;
    const view = {
      live: true,
      unreadable: new Map(),
      entries: () => [],
      get: () => undefined,
      onChange: () => () => undefined,
    };
    const empty = { view, bucket: { get: () => Promise.resolve(undefined) } };
    const nodes = { ...empty, view: { ...view, onChange: (fn: typeof told) => (told = fn) } };
    const store = {
      ...{ nodes, incidents: empty, permits: empty, settings: empty, reservations: empty, jobs: empty },
      grantedPermits: [],
      clusterSettings: enforced(),
      workers: { stale: true, live: () => [] },
    };
    const clock = { ...systemClock, monotonicMs: () => now };
    const context = { bus: { nc: {} }, clock, config: { nats: { servers: ['10.9.0.1'] } } };
    const parts = [
      context,
      store,
      { fresh: false },
      { ageMs: () => undefined },
      { of: () => undefined },
      { of: () => [] },
    ];
    // What is played here is less than the real parts, and all that is asked of them.
    sut = new GateFactsService(...(parts as unknown as ConstructorParameters<typeof GateFactsService>));
  });

  it('grows while it stays silent otherwise', async () => {
    expect(await forMs()).toBe(0);
    now += 9_000;
    told('n-1', node);
    expect(await forMs()).toBe(9_000);
  });
  it('begins anew when the node was heard in between, although nobody asked then', async () => {
    await forMs();
    now += 3_600_000;
    told('n-1', { ...node, verdict: aVerdict('n-1', { verdict: 'UP' }) });
    expect(await forMs()).toBe(0);
  });
});

describe('who counts against the brake', () => {
  const held = (name: string): IncidentRecord =>
    anIncident(name, {
      ...{ degraded: true, phase: 'suppressed', gate: 'NOT_FENCEABLE' },
      gates: [{ gate: 'LIFE_SIGN', pass: false, detail: '' }],
    });
  const candidates = (
    says: Partial<NodeRecord['verdict']>,
    o: { fresh?: boolean; sighted?: boolean; granted?: object[] } = {},
  ): string[] => {
    const verdict = { verdict: 'DEGRADED' as const, networks: ['backend'], epoch: 1, seq: 1, at: 1, ...says };
    const view = <T>(all: Record<string, T>): object => ({
      unreadable: new Map(),
      live: true,
      entries: () => Object.entries(all).map(([key, value]) => ({ key, value })),
      get: (key: string) => all[key] && { key, value: all[key] },
      onChange: () => () => undefined,
    });
    const granted = o.granted ?? [];
    const store = {
      nodes: { view: view({ 'n-1': aNode('n-1', { verdict }) }) },
      incidents: { view: view({ 'n-1': held('n-1'), 'n-2': anIncident('n-2', { phase: 'suppressed' }) }) },
      permits: { view: view({}) },
      grantedPermits: granted,
      clusterSettings: enforced(),
    };
    const parts = [
      { clock: systemClock },
      store,
      { fresh: o.fresh !== false, sighted: o.fresh !== false && o.sighted !== false },
    ];
    const sut = new GateFactsService(...(parts as unknown as ConstructorParameters<typeof GateFactsService>));
    return sut.storm()?.unrecovered ?? [];
  };

  it('is none whose incident is only held because it lives, as seen now', () => {
    expect(candidates({})).toEqual(['n-2']);
    expect(candidates({}, { fresh: false })).toEqual(['n-1', 'n-2']);
    expect(candidates({}, { sighted: false })).toEqual(['n-1', 'n-2']);
    expect(candidates({ verdict: 'UNKNOWN' })).toEqual(['n-1', 'n-2']);
    expect(candidates({}, { granted: [{ incident: 'i-n-1', node: 'n-1', at: 1 }] })).toEqual(['n-1', 'n-2']);
  });
});
