import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  defaultStorm,
  GateCodes,
  identityBasis,
  type GateCode,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type OwnProbe,
  type PowerCommand,
  type PowerIdentity,
} from '#contracts';
import { aNode, anIncident, anOwnProbe, aVerdict, enforced } from '../testing/records.js';
import { decideIncident } from '#domain/incident/decide-incident.js';
import { askGates, stoppingGate, type GateFacts } from '#domain/incident/gates.js';
import { refuseRelease } from './operator-orders.service.js';
import type { Latch, StormFacts } from '#domain/incident/storm-counts.js';

const node = aNode('n-1');

const calm = (o: Partial<StormFacts> = {}): StormFacts => ({
  limits: defaultStorm,
  members: 5,
  silent: [{ node: 'n-1', domain: 'default', forMs: 3000 }],
  unrecovered: [],
  grants: [],
  domains: { default: { members: 5 } },
  domainOf: () => 'default',
  ...o,
});

/** A node that is dead beyond doubt, in a calm fleet with every input known. */
const dead = (o: Partial<GateFacts> = {}): GateFacts => ({
  cause: 'auto',
  node,
  detector: { fresh: true, sighted: true, members: 5, reporters: 4 },
  verdict: aVerdict('n-1'),
  settings: enforced(),
  reservedBy: { known: true },
  power: 'on',
  storm: calm(),
  broker: { servers: ['10.9.0.1'], total: 1, onThisNode: [], doubtful: [], unresolved: [] },
  otherFencers: 2,
  wallNow: 1_000_000,
  ...o,
});

const stop = (o: Partial<GateFacts>): GateCode | undefined => stoppingGate(askGates(dead(o)))?.gate;
const evidence = aVerdict('n-1').evidence;
const seen = (own: Partial<OwnProbe>): Partial<GateFacts> => ({
  verdict: aVerdict('n-1', { evidence: { ...evidence, ownProbe: anOwnProbe(own) } }),
});

describe('the gates', () => {
  it('let a node through that is dead beyond doubt', () => {
    expect(stop({})).toBeUndefined();
  });

  it('let it through where one of its networks is out and the power device gives a definite answer', () => {
    const verdict = aVerdict('n-1', { evidence: { ...evidence, networksOut: ['backend'] } });
    for (const power of ['on', 'off'] as const) expect(stop({ verdict, power })).toBeUndefined();
  });

  it('are asked all, in order, each with a sentence', () => {
    const results = askGates(dead({ detector: undefined, settings: undefined }));
    expect(results.map((r) => r.gate)).toEqual([...GateCodes]);
    expect(results.every((r) => r.detail.length > 10)).toBe(true);
  });

  const cases: [string, GateCode, Partial<GateFacts>][] = [
    [
      'a detector that has not been heard for 3 s',
      'BLIND',
      { detector: { fresh: false, sighted: true, members: 5, reporters: 4 } },
    ],
    ['a blind detector', 'BLIND', { detector: { fresh: true, sighted: false, members: 5, reporters: 2 } }],
    ['a verdict that is only SUSPECT', 'BLIND', { verdict: aVerdict('n-1', { verdict: 'SUSPECT' }) }],
    [
      'two members and no answer of the power device',
      'BLIND',
      { detector: { fresh: true, sighted: true, members: 2, reporters: 1 }, power: 'unknown' },
    ],
    [
      'one network and no answer of the power device',
      'BLIND',
      { node: aNode('n-1', { networks: { management: { address: '10.0.0.1' } } }), power: undefined },
    ],
    [
      'two networks of which one is out, and no answer of the power device',
      'BLIND',
      { verdict: aVerdict('n-1', { evidence: { ...evidence, networksOut: ['backend'] } }), power: 'unknown' },
    ],
    ['a node without a power device', 'NOT_FENCEABLE', { node: aNode('n-1', { powerLevels: [[]] }) }],
    ['a cordoned node', 'NOT_FENCEABLE', { node: aNode('n-1', { cordon: { reason: 'disk', by: 'eve', at: 1 } }) }],
    ['a node in maintenance by an operation', 'NOT_FENCEABLE', { node: aNode('n-1', { status: 'Maintenance' }) }],
    ['a node whose fencing is manual', 'NOT_FENCEABLE', { node: aNode('n-1', { fencing: 'manual' }) }],
    ['a node that only its own fencer could fence', 'NOT_FENCEABLE', { otherFencers: 0 }],
    ['a node that is being edited', 'NOT_FENCEABLE', { reservedBy: { known: true, by: 'an edit of several nodes' } }],
    ['another open incident', 'ALREADY_OPEN', { open: anIncident('n-1', { id: 'other', phase: 'fencing' }) }],
    ['a report of its own', 'LIFE_SIGN', { ownReportAgeMs: 400 }],
    ['an echo at the detector', 'LIFE_SIGN', seen({ echo: ['backend'] })],
    ['an ssh banner', 'LIFE_SIGN', seen({ ssh: 'banner' })],
    ['a closed port of its agent', 'LIFE_SIGN', seen({ agentPort: 'unreachable' })],
    ['a look by a detector that knows no channels', 'LIFE_SIGN', seen({ by: undefined } as unknown as OwnProbe)],
    ['an ssh port that nobody tried', 'LIFE_SIGN', seen({ ssh: 'not-tried' })],
    [
      'one observer that hears it',
      'LIFE_SIGN',
      {
        verdict: aVerdict('n-1', {
          evidence: {
            ...evidence,
            observers: [{ observer: 'n-2', network: 'backend', misses: 0, reportAgeMs: 100, stance: 'hears' }],
          },
        }),
      },
    ],
    ['a host that has been hung for less than 10 s', 'LIFE_SIGN', { ...seen({ ssh: 'accepted' }), hungForMs: 9_000 }],
    [
      'a host that has been hung for longer, where hung hosts are only told of',
      'LIFE_SIGN',
      { ...seen({ ssh: 'accepted' }), hungForMs: 60_000, settings: enforced({ hung: 'alarm' }) },
    ],
    [
      'three unhealthy nodes of five',
      'BRAKE',
      { storm: calm({ silent: ['n-1', 'n-2', 'n-3'].map((n) => ({ node: n, domain: n, forMs: 0 })) }) },
    ],
    [
      'a third permit within 60 s',
      'BRAKE',
      {
        storm: calm({
          grants: ['n-2', 'n-3'].map((n) => ({ incident: n, node: n, ageMs: 30_000 })),
          domainOf: () => 'x',
        }),
      },
    ],
    [
      'most of a failure domain falling together',
      'DOMAIN',
      {
        storm: calm({
          members: 100,
          silent: ['n-1', 'n-2', 'n-3'].map((n) => ({ node: n, domain: 'default', forMs: 4000 })),
        }),
      },
    ],
    [
      'three permits in ten minutes',
      'CAP',
      {
        storm: calm({
          grants: ['a', 'b', 'c'].map((n) => ({ incident: n, node: n, ageMs: 400_000 })),
          domainOf: () => 'x',
        }),
      },
    ],
    [
      'the only bus server on the node',
      'QUORUM',
      { broker: { servers: ['a'], total: 1, onThisNode: ['a'], doubtful: [], unresolved: [] } },
    ],
    [
      'a bus server on the node with another in doubt',
      'QUORUM',
      { broker: { servers: ['a', 'b', 'c'], total: 3, onThisNode: ['a'], doubtful: ['b'], unresolved: [] } },
    ],
    ['a pause', 'PAUSED', { settings: enforced({ paused: { until: 1_000_001, reason: 'move', by: 'eve' } }) }],
    ['mode observe', 'OBSERVE', { settings: enforced({ mode: 'observe' }) }],
    [
      'a node that was fenced three times in ten minutes',
      'FLAPPING',
      {
        storm: calm({
          members: 100,
          grants: ['a', 'b', 'c'].map((i) => ({ incident: i, node: 'n-1', ageMs: 300_000 })),
        }),
      },
    ],
  ];
  it.each(cases)('stop at %s: %s', (_text, gate, facts) => {
    expect(stop(facts)).toBe(gate);
  });

  it('stop where an input is missing, whichever it is', () => {
    const inputs = ['detector', 'verdict', 'settings', 'reservedBy', 'storm', 'broker', 'otherFencers'] as const;
    for (const input of inputs) expect([input, stop({ [input]: undefined })]).not.toContain(undefined);
  });

  it('wait for a job that holds the node, and go on when it has ended', () => {
    const job = { id: 'j1', kind: 'resetup', status: 'Running' } as JobRecord;
    expect(stop({ reservedBy: { known: true, job } })).toBe('NOT_FENCEABLE');
    expect(stop({ reservedBy: { known: true, job: { ...job, status: 'Errored' } } })).toBeUndefined();
  });

  it('do not wait for a job that only looks', () => {
    const job = { id: 'j1', kind: 'check', status: 'Running' } as JobRecord;
    expect(stop({ reservedBy: { known: true, job } })).toBeUndefined();
  });

  it('are open for a node from which workloads have still to move before its job may begin, and for no longer', () => {
    const job = { id: 'j1', kind: 'decommission', status: 'Queued', moving: ['db'] } as unknown as JobRecord;
    const by = (o: Partial<JobRecord>): Partial<GateFacts> => ({
      node: aNode('n-1', { status: 'Cancelled' }),
      reservedBy: { known: true, job: { ...job, ...o } },
    });
    expect(stop(by({}))).toBeUndefined();
    const begun: Partial<JobRecord>[] = [{ moving: [] }, { status: 'Running' }, { cancel: { by: 'eve', at: 1 } }];
    for (const o of begun) expect(stop(by(o))).toBe('NOT_FENCEABLE');
  });

  it('let a hung host through after 10 s, unless it is only to be told of', () => {
    const hung = { ...seen({ ssh: 'accepted' }), hungForMs: 10_000 };
    expect(stop(hung)).toBeUndefined();
    expect(stop({ ...hung, settings: enforced({ hung: 'alarm' }) })).toBe('LIFE_SIGN');
  });

  it('hold a host without a channel, unless an admin has waived that of it or of its group', () => {
    const weak = seen({ spoke: [] });
    expect(stop(weak)).toBe('LIFE_SIGN');
    const waived = { lifeSignWaived: { reason: 'behind a firewall', by: 'eve', at: 1 } };
    expect(stop({ ...weak, node: aNode('n-1', waived) })).toBeUndefined();
    const settings = enforced();
    settings.hostGroups = [{ name: 'dmz', role: 'worker', lifeSign: 'none', lifeSignReason: 'behind a firewall' }];
    expect(stop({ ...weak, settings, node: aNode('n-1', { hostGroup: 'dmz' }) })).toBeUndefined();
    expect(stop({ ...weak, settings, node: aNode('n-1', { hostGroup: 'other' }) })).toBe('LIFE_SIGN');
  });

  it('keep a failure domain that fell together stopped, however long ago that was', () => {
    const silent = ['n-1', 'n-2', 'n-3'].map((n) => ({ node: n, domain: 'default', forMs: 3_600_000 }));
    expect(stop({ storm: calm({ members: 100, silent }) })).toBe('DOMAIN');
  });

  it('of a storm hold who has its permit already, until its first command', () => {
    const latch: Latch = {
      trips: [{ id: 's-1', cause: 'brake', at: 1, members: { 'n-1': {} } }],
      state: () => 'rest',
      sees: true,
      settling: false,
      calmMs: () => 0,
      commanded: new Set(),
      wallNow: 1_000_000,
    };
    const off: PowerCommand = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off', at: 1 };
    const decide = (commands: PowerCommand[], storm = calm({ latch })): unknown =>
      decideIncident(anIncident('n-1', { phase: 'fencing', commands }), dead({ storm }), true);
    expect(decide([])).toMatchObject({ do: 'suppress', gate: { gate: 'BRAKE' } });
    expect(decide([off])).toMatchObject({ do: 'fence' });
    expect(decide([], calm())).toMatchObject({ do: 'fence' });
  });

  it('through a gap hold who has its permit and no command yet, for a storm may have been tripped since', () => {
    const off: PowerCommand = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off', at: 1 };
    const decide = (o: Partial<IncidentRecord>): unknown =>
      decideIncident(anIncident('n-1', { phase: 'fencing', ...o }), dead({ storm: undefined }), true);
    const releasedAt = (...gates: GateCode[]): Partial<IncidentRecord> => ({
      released: { by: 'eve', reason: 'r', at: 1, gates, force: false },
    });
    expect(decide({})).toMatchObject({ do: 'hold', gate: { gate: 'BRAKE' } });
    expect(decide(releasedAt('BRAKE'))).toMatchObject({ do: 'hold', gate: { gate: 'DOMAIN' } });
    expect(decide(releasedAt('BRAKE', 'DOMAIN'))).toMatchObject({ do: 'fence' });
    // One that is under way must be able to end.
    expect(decide({ commands: [off] })).toMatchObject({ do: 'fence' });
  });

  it('are passed by a release only where they were released, and never without a power device', () => {
    const facts = dead({
      storm: calm({ silent: ['n-1', 'n-2', 'n-3'].map((n) => ({ node: n, domain: n, forMs: 0 })) }),
    });
    expect(stoppingGate(askGates(facts), ['CAP'], facts)?.gate).toBe('BRAKE');
    expect(stoppingGate(askGates(facts), ['BRAKE'], facts)).toBeUndefined();
    const bare = dead({ node: aNode('n-1', { powerLevels: [] }) });
    expect(stoppingGate(askGates(bare), ['NOT_FENCEABLE'], bare)?.gate).toBe('NOT_FENCEABLE');
  });

  it('never switch off by a device that another node has too, or that is another machine’s, and no release lifts that', () => {
    const device = { id: 'bmc', driver: 'ipmitool', address: '10.2.0.1' };
    const known = { result: 'mismatch' as const, at: 1, why: 'it is that of n-2', basis: identityBasis(device) };
    const own = (o: Partial<PowerIdentity>): NodeRecord =>
      aNode('n-1', { powerLevels: [[device]], powerIdentity: { bmc: { ...known, ...o } } });
    const shared = { sharedPlace: { device: 'bmc', place: '10.2.0.1:623', node: 'n-2' } };
    for (const o of [shared, { node: own({}) }]) {
      const facts = dead(o);
      expect(stoppingGate(askGates(facts))).toMatchObject({
        gate: 'NOT_FENCEABLE',
        detail: expect.stringContaining('n-2'),
      });
      expect(stoppingGate(askGates(facts), ['NOT_FENCEABLE'], facts)?.gate).toBe('NOT_FENCEABLE');
      expect(() => refuseRelease('NOT_FENCEABLE', facts.node, facts, true)).toThrow('n-2');
    }
    expect(stop({ node: own({ acknowledged: { by: 'ann', why: 'new board', at: 2 } }) })).toBeUndefined();
    expect(stop({ node: own({ basis: 'another place, or other credentials' }) })).toBeUndefined();
    expect(stop({ node: own({ result: 'unproven' }) })).toBeUndefined();
  });

  it('are released past a sign of life only with force, and past a setting never', () => {
    expect(() => refuseRelease('LIFE_SIGN', node, { otherFencers: 1 }, false)).toThrow('may be alive');
    expect(() => refuseRelease('LIFE_SIGN', node, { otherFencers: 1 }, true)).not.toThrow();
    expect(() => refuseRelease('OBSERVE', node, { otherFencers: 1 }, true)).toThrow('observe');
    expect(() => refuseRelease('CAP', node, { otherFencers: 1 }, false)).not.toThrow();
  });

  it('never let anything through on less than is known: taking an input away never opens a gate', () => {
    const inputs = ['detector', 'verdict', 'settings', 'reservedBy', 'storm', 'broker', 'otherFencers'] as const;
    fc.assert(
      fc.property(fc.subarray([...inputs]), fc.constantFrom('on', 'off', 'unknown', undefined), (missing, power) => {
        const facts = dead({ power, ...Object.fromEntries(missing.map((m) => [m, undefined])) });
        if (missing.length > 0) expect(stoppingGate(askGates(facts))).toBeDefined();
      }),
    );
  });
});
