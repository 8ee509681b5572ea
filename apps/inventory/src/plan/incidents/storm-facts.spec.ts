import { describe, expect, it } from 'vitest';
import { PERMITS_KEY, type IncidentRecord, type NodeRecord, type Permits } from '#contracts';
import { ageMs } from '../../snapshot/ages.js';
import type { DetectorNow } from '../../snapshot/fleet.js';
import { Records } from '../../snapshot/records.js';
import { aBeacon, aNode, anIncident, enforced } from '../../testing/records.js';
import type { StormAges } from '../../snapshot/storm-book.js';
import { brakeFigures, isCalm, stormFacts, stormSight, stormViews, type StormSight } from './storm-facts.js';

const records = <T>(all: Record<string, T>, unreadable: string[] = [], live = true): Records<T> =>
  new Records(
    Object.entries(all).map(([key, value]) => ({ key, value, revision: 1 })),
    new Set(unreadable),
    live,
  );
const young: StormAges = { of: () => ageMs(0), ofSilence: () => ageMs(0) };
const sees = { silentTogether: [], beacon: undefined, current: undefined, fresh: true, sighted: true, settled: true };

const sight = (o: Partial<Omit<StormSight, 'detector'>> & { detector?: Partial<DetectorNow> } = {}): StormSight => ({
  ...{ nodes: records({}), incidents: records({}), permits: records({}), settings: enforced(), wallMs: 1_000 },
  ...o,
  detector: { ...sees, ...o.detector } as DetectorNow,
});

describe('who counts against the brake', () => {
  const held = (name: string): IncidentRecord =>
    anIncident(name, {
      ...{ degraded: true, phase: 'suppressed', gate: 'NOT_FENCEABLE' },
      gates: [{ gate: 'LIFE_SIGN', pass: false, detail: '' }],
    });
  const candidates = (
    says: Partial<NodeRecord['verdict']>,
    o: { detector?: Partial<DetectorNow>; granted?: Permits['granted'] } = {},
  ): string[] => {
    const verdict = { verdict: 'DEGRADED' as const, networks: ['backend'], epoch: 1, seq: 1, at: 1, ...says };
    const fleet = sight({
      nodes: records({ 'n-1': aNode('n-1', { verdict }) }),
      incidents: records({ 'n-1': held('n-1'), 'n-2': anIncident('n-2', { phase: 'suppressed' }) }),
      permits: records({ [PERMITS_KEY]: { granted: o.granted ?? [] } }),
      ...(o.detector && { detector: o.detector }),
    });
    return stormFacts(fleet, young)?.unrecovered ?? [];
  };

  it('is none whose incident is only held because it lives, as seen now', () => {
    expect(candidates({})).toEqual(['n-2']);
    expect(candidates({}, { detector: { fresh: false, sighted: false } })).toEqual(['n-1', 'n-2']);
    expect(candidates({}, { detector: { sighted: false } })).toEqual(['n-1', 'n-2']);
    expect(candidates({ verdict: 'UNKNOWN' })).toEqual(['n-1', 'n-2']);
    expect(candidates({}, { granted: [{ incident: 'i-n-1', node: 'n-1', at: 1 }] })).toEqual(['n-1', 'n-2']);
  });
});

it('nothing is known of storms through a gap, or without the permits: nobody is let pass by that', () => {
  const unknown = [
    sight({ nodes: records({}, [], false) }),
    sight({ incidents: records({}, [], false) }),
    sight({ permits: records({}, [], false) }),
    sight({ permits: records({}, [PERMITS_KEY]) }),
  ];
  for (const fleet of unknown) {
    expect(stormFacts(fleet, young)).toBeUndefined();
    expect(isCalm(fleet)).toBe(false);
    expect(brakeFigures(fleet, young)).toEqual({ candidates: 0, limit: 0 });
  }
  expect(isCalm(sight())).toBe(true);
});

it('a storm is shown for as long as it has stood, and a silence is as old as its incident at least', () => {
  const node = aNode('n-1');
  const notUp = { 'n-1': { verdict: 'DOWN' as const, seq: 1 } };
  const trip = { id: 's-1', cause: 'brake' as const, at: 1, members: { 'n-1': {} } };
  const trips = { [PERMITS_KEY]: { granted: [], trips: [trip] } };
  const fleet = sight({
    nodes: records({ 'n-1': node }),
    incidents: records({ 'n-1': anIncident('n-1', { phase: 'suppressed' }) }),
    permits: records(trips),
    detector: { current: aBeacon({ notUp }) },
  });
  const ages: StormAges = {
    of: (key) => ageMs({ 'storm/s-1': 7_000, 'incident/i-n-1': 5_000 }[key] ?? 0),
    ofSilence: () => ageMs(3_000),
  };
  expect(stormViews(fleet, ages)).toMatchObject([{ id: 's-1', standsForMs: 7_000, rest: ['n-1'] }]);
  expect(stormFacts(fleet, ages)?.silent).toEqual([{ node: 'n-1', domain: node.failureDomain, forMs: 5_000 }]);
  expect(isCalm(fleet)).toBe(false);
  // Through a gap nobody ends it: it stands, with the figures that were seen last.
  for (const gap of [{ nodes: records({ 'n-1': node }, [], false) }, { permits: records(trips, [], false) }])
    expect(stormViews({ ...fleet, ...gap }, ages)).toEqual(stormViews(fleet, ages));
});

it('who has waited for spare parts did not fall with whoever falls now, as its incident says', () => {
  const fleet = sight({
    nodes: records({ old: aNode('old'), new: aNode('new'), cordoned: aNode('cordoned', { cordon }) }),
    incidents: records({ old: anIncident('old', { phase: 'failed' }) }),
    detector: { silentTogether: ['old', 'new', 'cordoned', 'gone'].map((node) => ({ node, forMs: 1_000 })) },
  });
  const aged = (incidentMs: number): string[] | undefined => {
    const ages: StormAges = { of: () => ageMs(incidentMs), ofSilence: () => ageMs(2_000) };
    return stormFacts(fleet, ages)?.together?.map((x) => `${x.node} ${x.forMs}`);
  };
  expect(aged(700_000)).toEqual(['new 2000']);
  expect(aged(5_000)).toEqual(['old 5000', 'new 2000']);
});

const cordon = { by: 'eve', at: 1, reason: 'r' };

it('a member of a storm of which nothing can be understood is not back, and neither it nor its incident hides the others', () => {
  const notUp = { 'n-2': { verdict: 'DOWN' as const, seq: 1 } };
  const trip = { id: 's-1', cause: 'brake' as const, at: 1, members: { 'n-1': {}, 'n-2': {}, 'n-3': {} } };
  const of = (nodes: Record<string, NodeRecord>, unreadable: string[] = []): StormSight =>
    sight({
      nodes: records(
        { 'n-2': aNode('n-2'), 'n-3': aNode('n-3', { cordon: { by: 'ann', reason: '', at: 1 } }), ...nodes },
        unreadable,
      ),
      incidents: records({
        'n-2': anIncident('n-2', { phase: 'suppressed' }),
        'n-3': anIncident('n-3', { commands: undefined as never }),
      }),
      permits: records({ [PERMITS_KEY]: { granted: [], trips: [trip] } }),
      detector: { current: aBeacon({ notUp }) },
    });
  const odd = of({
    'n-1': {
      ...aNode('n-1'),
      get cordon(): never {
        throw new Error('odd');
      },
    },
  });
  for (const fleet of [odd, of({}, ['n-1'])]) {
    const facts = stormFacts(fleet, young);
    expect([facts?.members, facts?.silent.map((s) => s.node), facts?.unrecovered]).toEqual([1, ['n-2'], ['n-2']]);
    expect(stormViews(fleet, young)[0]?.rest).toEqual(['n-1', 'n-2']);
  }
  expect(stormSight(odd).failed.map((f) => f.about)).toEqual([{ node: 'n-1' }, { node: 'n-3' }]);
});

it('who is silent when a blindness ends is silent right after it, or is named by the detector to who begins to listen later', () => {
  const notUp = { 'n-1': { verdict: 'DOWN' as const, seq: 1 }, 'n-2': { verdict: 'SUSPECT' as const, seq: 1 } };
  const silent = (named: string[] | undefined): readonly string[] | undefined => {
    const detector = { current: aBeacon({ notUp }), blindnessEnded: { epoch: 1, seq: 7, silent: named } };
    const nodes = records({ 'n-1': aNode('n-1'), 'n-2': aNode('n-2'), 'n-3': aNode('n-3') });
    return stormFacts(sight({ nodes, detector }), young)?.latch?.blindness?.silent;
  };
  expect(silent(undefined)).toEqual(['n-1', 'n-2']);
  expect(silent(['n-1', 'n-3'])).toEqual(['n-1']);
});
