import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { MOST_CONDITIONS, type AlarmCode, type DetectorCondition, type NodeRecord, type VerdictKind } from '#contracts';
import { aNode } from '../../testing/records.js';
import {
  NO_QUORUM_AFTER_MS,
  DEGRADED_AFTER_MS,
  detectionAlarms,
  SILENT_AFTER_MS,
  type DetectionFacts,
} from './detection-alarms.js';

const node = (name: string, verdict: VerdictKind, networks: string[] = [], o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode(name, { verdict: { verdict, networks, epoch: 1, seq: 1, at: 1 }, ...o });
const up = (...names: string[]): NodeRecord[] => names.map((n) => node(n, 'UP'));

const facts = (o: Partial<DetectionFacts> = {}): DetectionFacts => ({
  silentForMs: 0,
  beacon: { fresh: true, sighted: true, members: 5, reporters: 5 },
  noQuorumForMs: 0,
  nodes: up('a', 'b', 'c', 'd', 'e'),
  degradedForMs: () => DEGRADED_AFTER_MS,
  active: new Map(),
  ...o,
});
const asItWas = (id: string) => {
  const [code = '', subject = ''] = id.split('=');
  return { code: code as AlarmCode, subject, severity: 'warning' as const, message: 'as it was' };
};
/** Codes and subjects that are wanted, where these are up already. */
const ids = ({
  active = new Set(),
  ...o
}: Omit<Partial<DetectionFacts>, 'active'> & { active?: Set<string> }): string[] =>
  detectionAlarms(facts({ ...o, active: new Map([...active].map((id) => [id, asItWas(id)])) })).map(
    (a) => `${a.code}=${a.subject}`,
  );

describe('alarms of the detection', () => {
  it('are none in a healthy fleet, nor in an empty one', () => {
    expect(ids({})).toEqual([]);
    const empty = { fresh: true, sighted: false, members: 0, reporters: 0 };
    expect(ids({ nodes: [], beacon: empty, noQuorumForMs: 60_000 })).toEqual([]);
  });

  it('say blind when that has lasted longer than a start', () => {
    const beacon = { fresh: true, sighted: false, members: 5, reporters: 2 };
    expect(ids({ beacon, noQuorumForMs: NO_QUORUM_AFTER_MS - 1 })).toEqual([]);
    expect(ids({ beacon, noQuorumForMs: NO_QUORUM_AFTER_MS })).toEqual(['blind=fleet']);
  });

  it('say that the detector is silent when that has lasted longer than a takeover, and then not blind as well', () => {
    const active = new Set(['blind=fleet']);
    const beacon = { fresh: false, sighted: false, members: 5, reporters: 2 };
    expect(ids({ beacon, silentForMs: SILENT_AFTER_MS - 1 })).toEqual([]);
    expect(ids({ beacon, silentForMs: SILENT_AFTER_MS - 1, active })).toEqual(['blind=fleet']);
    expect(ids({ beacon, silentForMs: SILENT_AFTER_MS, active })).toEqual(['detector-silent=detector']);
    expect(ids({ beacon: undefined, silentForMs: SILENT_AFTER_MS })).toEqual(['detector-silent=detector']);
  });

  it('name a node whose network is silent, until it is up or somebody else’s business', () => {
    const with1 = (v: VerdictKind, networks: string[] = []): NodeRecord[] => [node('a', v, networks), ...up('b', 'c')];
    expect(ids({ nodes: with1('DEGRADED', ['backend']) })).toEqual(['node-degraded=a']);
    expect(ids({ nodes: with1('DEGRADED', ['backend']), degradedForMs: () => DEGRADED_AFTER_MS - 1 })).toEqual([]);
    const active = new Set(['node-degraded=a']);
    for (const v of ['SUSPECT', 'UNKNOWN'] as const)
      expect(ids({ nodes: with1(v), active })).toEqual(['node-degraded=a']);
    for (const v of ['UP', 'DOWN', 'LEFT'] as const) expect(ids({ nodes: with1(v), active })).toEqual([]);
  });

  it('leave out who is cordoned, powered off or gone', () => {
    const active = new Set(['node-degraded=a', 'conflict=a']);
    const cordon = { reason: 'disk', by: 'eve', at: 1 };
    expect(ids({ nodes: [node('a', 'DEGRADED', ['backend'], { cordon })], active })).toEqual([]);
    expect(ids({ nodes: up('b'), active })).toEqual([]);
  });

  it('name the network once where most nodes are silent on it, and no node for it', () => {
    const most = ['a', 'b', 'c'].map((n) => node(n, 'DEGRADED', ['backend']));
    expect(ids({ nodes: [...most, ...up('d', 'e')] })).toEqual(['network-down=backend']);
    expect(ids({ nodes: [...most.slice(1), ...up('d', 'e')] })).toEqual(['node-degraded=b', 'node-degraded=c']);
    const both = node('a', 'DEGRADED', ['backend', 'management']);
    const [first, ...rest] = detectionAlarms(facts({ nodes: [both, ...most.slice(1), ...up('d', 'e')] }));
    expect(first?.subject).toBe('backend');
    expect(rest).toMatchObject([
      { code: 'node-degraded', subject: 'a', message: expect.not.stringContaining('backend') },
    ]);
    expect(ids({ nodes: [node('a', 'DEGRADED', ['backend'])] })).toEqual(['node-degraded=a']);
  });

  it('keep a network that was down while its nodes cannot be seen', () => {
    const unseen = ['a', 'b', 'c'].map((n) => node(n, 'UNKNOWN'));
    expect(ids({ nodes: [...unseen, ...up('d', 'e')] })).toEqual([]);
    const active = new Set(['network-down=backend']);
    expect(ids({ nodes: [...unseen, ...up('d', 'e')], active })).toEqual(['network-down=backend']);
    expect(ids({ nodes: up('a', 'b', 'c', 'd', 'e'), active })).toEqual([]);
  });

  it('name a node that two machines report as, until another verdict says otherwise', () => {
    const verdict = { verdict: 'UNKNOWN' as const, networks: [], epoch: 1, seq: 1, at: 1 };
    const twice = aNode('a', { verdict: { ...verdict, reason: 'CONFLICT: two machines report under this name.' } });
    expect(ids({ nodes: [twice, ...up('b')] })).toEqual(['conflict=a']);
    const active = new Set(['conflict=a']);
    const blind = aNode('a', { verdict: { ...verdict, reason: 'No quorum: only 1 of 5 members report.' } });
    expect(ids({ nodes: [blind, ...up('b')] })).toEqual([]);
    expect(ids({ nodes: [blind, ...up('b')], active })).toEqual(['conflict=a']);
    expect(ids({ nodes: up('a', 'b'), active })).toEqual([]);
  });

  describe('for what beacons say beside the verdicts', () => {
    const condition = (o: Partial<DetectorCondition> = {}): DetectorCondition => ({
      code: 'link-down',
      subject: 'a~b',
      severity: 'warning',
      message: 'a and b do not hear each other on backend.',
      ...o,
    });
    const beacon = (conditions: DetectorCondition[], o: object = {}): DetectionFacts['beacon'] => ({
      fresh: true,
      sighted: true,
      members: 5,
      reporters: 5,
      conditions,
      ...o,
    });
    const active = new Set(['link-down=a~b', 'auth-failure=fleet']);

    it('stand as long as a fresh beacon carries them, of a blind detector too', () => {
      const two = [condition(), condition({ code: 'auth-failure', subject: 'fleet', severity: 'critical' })];
      expect(detectionAlarms(facts({ beacon: beacon(two) }))).toEqual(two);
      expect(ids({ beacon: beacon(two, { sighted: false }), active })).toEqual([...active]);
      expect(ids({ beacon: beacon([condition()]), active })).toEqual(['link-down=a~b']);
      expect(ids({ beacon: beacon([], { sighted: false }), active })).toEqual([]);
    });

    it('stay as they are while no beacon is fresh, and while a new detector says nothing of them', () => {
      expect(ids({ beacon: beacon([], { fresh: false }), active })).toEqual([...active]);
      expect(ids({ beacon: undefined, active })).toEqual([...active]);
      expect(ids({ active })).toEqual([...active]);
    });

    it('are raised for agents that cannot use their peer list, too', () => {
      expect(ids({ beacon: beacon([condition({ code: 'peer-list', subject: 'a' })]) })).toEqual(['peer-list=a']);
    });

    it('are not cleared by a list on which there was no room for them', () => {
      const many = Array.from({ length: MOST_CONDITIONS }, (_, i) => condition({ subject: `n${i}` }));
      expect(ids({ beacon: beacon(many), active })).toEqual(expect.arrayContaining([...active]));
      expect(ids({ beacon: beacon(many.slice(1)), active })).not.toEqual(expect.arrayContaining([...active]));
    });

    it('are none of a kind that this inventory does not know', () => {
      const unknown = condition({ code: 'brake' as DetectorCondition['code'] });
      expect(ids({ beacon: beacon([unknown]) })).toEqual([]);
    });
  });

  it('name each thing once, and settle: a second look at the same facts wants the same', () => {
    const kinds = fc.constantFrom<VerdictKind>('UP', 'DEGRADED', 'SUSPECT', 'DOWN', 'UNKNOWN');
    const nets = fc.subarray(['backend', 'management'], { minLength: 1 });
    fc.assert(
      fc.property(fc.array(fc.tuple(kinds, nets), { maxLength: 12 }), fc.boolean(), (list, known) => {
        const nodes = list.map(([v, n], i) => node(`n${i}`, v, v === 'DEGRADED' ? n : []));
        const one = ids({ nodes, active: new Set(known ? ['network-down=backend', 'node-degraded=n0'] : []) });
        expect(new Set(one).size).toBe(one.length);
        expect(ids({ nodes, active: new Set(one) })).toEqual(one);
      }),
    );
  });
});
