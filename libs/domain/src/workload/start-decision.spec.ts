import { describe, expect, it } from 'vitest';
import { IncidentPhases, isOpenIncident, type NodeRecord } from '#contracts';
import { aNode as healthyNode } from '#contracts/testing/a-node.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import { aWorkload } from '#contracts/testing/a-workload.js';
import {
  askStartGate,
  GATE_MS,
  LATE_LIST_MS,
  startReasons,
  startQuestions,
  startRefusal,
  type FleetFacts,
  type RegistryFacts,
  type StartQuestions,
  type StartReason,
  type StartRefusal,
} from './start-decision.js';

const aNode = (name: string, o: Partial<NodeRecord> = {}): NodeRecord =>
  healthyNode(name, { bootId: `boot-${name}`, ...o });

const here = aWorkload('db', { generation: 4, assignment: { node: 'n-1', generation: 4 } });
const gate: StartQuestions['gate'] = {
  ...{ node: 'n-1', workload: here, record: aNode('n-1'), incident: undefined, boot: 'boot-n-1' },
  barred: undefined,
  seenOn: undefined,
};
const ask = (o: Partial<StartQuestions['gate']> = {}): boolean => askStartGate({ ...gate, ...o }).allowed;

describe('the start gate', () => {
  it('lets a workload start on the node that it is assigned to, and names the generation', () => {
    const answer = askStartGate(gate);
    expect(answer).toMatchObject({ allowed: true, generation: 4 });
  });

  it('refuses everything on a node from the order to power it off until its incident is closed', () => {
    for (const phase of IncidentPhases) {
      const undecided = phase === 'open' || phase === 'investigating' || phase === 'suppressed';
      const incident = anIncident('n-1', { phase });
      expect([phase, ask({ incident })]).toEqual([phase, undecided || !isOpenIncident(incident)]);
    }
  });

  it('opens for a start that a job carries out, and for what an operator says runs here', () => {
    expect(ask({ workload: { ...here, start: { cause: 'incident:i', attempt: 0, job: 'j' } } })).toBe(true);
    expect(ask({ workload: { ...here, start: { cause: 'put', attempt: 0 } } })).toBe(true);
  });
});

describe('the table of reasons', () => {
  it('is asked by somebody for each of them', () => {
    expect(new Set(Object.values(startQuestions).flat())).toEqual(new Set(Object.keys(startReasons)));
  });
});

describe('what stands against a start', () => {
  const move = { cause: 'drain', from: 'n-3', to: 'n-1' };
  const seen = { kind: 'elsewhere' as const, node: 'n-3', generation: 1 };
  const starting = { ...seen, generation: undefined, starting: {} };
  const clear: FleetFacts = { check: { kind: 'clear' }, mayFollow: () => true, startingForMs: () => 0 };
  const registry: RegistryFacts = {
    node: 'n-1',
    workload: here,
    record: aNode('n-1'),
    incident: undefined,
    boot: 'boot-n-1',
  };
  const permission = (o: Partial<StartQuestions['permission']> = {}): StartReason | undefined =>
    startRefusal('permission', { ...registry, ...clear, barred: undefined, generation: 4, cleanup: undefined, ...o })
      ?.code;
  const order = (o: Partial<StartQuestions['order']> = {}): StartReason | undefined =>
    startRefusal('order', {
      workload: here,
      ...clear,
      leftForMs: () => 0,
      out: () => undefined,
      retryInMs: () => 0,
      ...o,
    })?.code;
  const put = (o: Partial<StartQuestions['put']> = {}): StartReason | undefined =>
    startRefusal('put', { node: 'n-1', record: aNode('n-1'), incident: undefined, holder: undefined, ...o })?.code;

  const soft = { action: 'soft' as const, by: 'eve', reason: 'memory', at: 1, after: 0, bootId: 'boot-n-1' };
  const shutsDown = anIncident('n-1', { phase: 'closed', order: soft });
  const refusals: [string, StartReason, Partial<RegistryFacts>][] = [
    ['an unknown workload', 'WORKLOAD_UNKNOWN', { workload: undefined }],
    ['a workload that shall not run', 'NOT_WANTED', { workload: { ...here, desired: 'stopped' } }],
    ['a workload that was taken from its node', 'UNASSIGNED', { workload: aWorkload('db', { generation: 5 }) }],
    [
      'another node than the assigned one',
      'ASSIGNED_ELSEWHERE',
      { node: 'n-2', record: aNode('n-2'), boot: 'boot-n-2' },
    ],
    [
      'a workload that is being stopped there',
      'STOPPING',
      { workload: { ...here, stop: { cause: 'drain', attempt: 0 } } },
    ],
    ['a held workload', 'HELD', { workload: { ...here, held: 'x' } }],
    [
      'a start that is owed before the other nodes were looked at',
      'NOT_DUE',
      { workload: { ...here, start: { cause: 'incident:i', attempt: 0 } } },
    ],
    ['an unknown node', 'NODE_UNKNOWN', { record: undefined }],
    [
      'a node that was shut out',
      'REVOKED',
      { record: aNode('n-1', { enrolled: false, revoked: { by: 'ann', at: 1, reason: 'stolen' } }) },
    ],
    ['a node that is about to shut down', 'SHUTS_DOWN', { incident: shutsDown }],
    ['a node that is being powered off', 'INCIDENT', { incident: anIncident('n-1', { phase: 'fencing' }) }],
    [
      'a node that counts as off',
      'CONFIRMED_OFF',
      { record: aNode('n-1', { confirmedOff: { at: 1, incident: 'i' } }) },
    ],
    ['a node in maintenance', 'MAINTENANCE', { record: aNode('n-1', { maintenance: { at: 1, reason: 'fenced' } }) }],
    [
      'a returned node before its check',
      'RETURNED',
      { record: aNode('n-1', { pendingReturn: { reason: 'rebooted', at: 1 } }) },
    ],
    ['a boot that is not known', 'BOOT_UNKNOWN', { boot: undefined }],
    ['a boot that nobody has accepted yet', 'REBOOTED', { boot: 'boot-2' }],
    [
      'a node of which no boot was accepted',
      'REBOOTED',
      { record: { ...aNode('n-1'), bootId: undefined } as unknown as NodeRecord },
    ],
  ];
  it.each(refusals)('at the start gate: %s', (_what, code, facts) => {
    expect(askStartGate({ ...registry, barred: undefined, seenOn: undefined, ...facts })).toMatchObject({
      allowed: false,
      code,
    });
  });

  it('at the start gate alone: that another node says by then that it runs it', () => {
    const refused = { allowed: false, code: 'SEEN_RUNNING', reason: 'n-2 says that it runs it.' };
    expect(askStartGate({ ...registry, barred: undefined, seenOn: 'n-2' })).toMatchObject(refused);
  });

  it.each(refusals)('to a provisioner as well: %s', (_what, code, facts) => {
    // What was ordered is what is assigned: whether the order is still the current one is asked after all these.
    const generation = { ...registry, ...facts }.workload?.assignment?.generation ?? 4;
    expect(permission({ ...facts, generation })).toBe(code);
  });

  it.each<[StartReason | undefined, Partial<StartQuestions['permission']>]>([
    [undefined, {}],
    ['CLEANUP', { cleanup: 'job-1' }],
    ['HELD', { workload: { ...here, held: 'x' } }],
    ['STALE', { generation: 3 }],
    ['RUNS_ON_THE_DEAD', { check: seen, mayFollow: () => false }],
    ['NAMED_BY_THE_LEFT', { check: seen, workload: { ...here, move } }],
    ['RUNS_ELSEWHERE', { check: seen }],
    ['STARTS_ELSEWHERE', { check: starting }],
    ['SILENT', { check: { kind: 'unknown', silent: ['n-2'], named: [], ungated: [] } }],
    [undefined, { check: { kind: 'there' } }],
  ])('to a provisioner: %s', (code, facts) => {
    expect(permission(facts)).toBe(code);
  });

  it.each<[StartReason | undefined, Partial<StartQuestions['order']>]>([
    [undefined, {}],
    ['JUST_LEFT', { check: seen, workload: { ...here, move }, leftForMs: () => LATE_LIST_MS - 1 }],
    ['RUNS_ELSEWHERE', { check: seen, workload: { ...here, move }, leftForMs: () => LATE_LIST_MS }],
    ['RUNS_ON_THE_DEAD', { check: seen, mayFollow: () => false }],
    ['STARTS_ELSEWHERE', { check: starting, startingForMs: () => GATE_MS }],
    ['RUNS_ELSEWHERE', { check: starting, startingForMs: () => GATE_MS + 1 }],
    ['STARTS_ELSEWHERE', { check: { ...starting, starting: { awaits: 'n-1' } }, startingForMs: () => Infinity }],
    ['RUNS_AS_ORDERED', { check: { kind: 'there' } }],
    [undefined, { check: { kind: 'there' }, workload: { ...here, start: { cause: 'run-again', attempt: 0 } } }],
    [
      'OUT_OF_SERVICE',
      { out: () => 'it is cordoned', check: { kind: 'unknown', silent: ['n-2'], named: [], ungated: [] } },
    ],
    ['SILENT', { check: { kind: 'unknown', silent: ['n-2'], named: [], ungated: [] } }],
    ['RETRY', { retryInMs: () => 1, workload: { ...here, start: { cause: 'incident:1', attempt: 1 } } }],
  ])('before it is handed to a job: %s', (code, facts) => {
    expect(order(facts)).toBe(code);
  });

  it.each<[StartReason | undefined, Partial<StartQuestions['put']>]>([
    [undefined, {}],
    ['NODE_UNKNOWN', { record: undefined }],
    ['RESERVED', { holder: 'job-1' }],
    ['CONFIRMED_OFF', { record: aNode('n-1', { confirmedOff: { at: 1, incident: 'i' } }) }],
    // The gate lets a unit start until the power-off is decided; an operator's word is not taken even then.
    ['OPEN_INCIDENT', { incident: anIncident('n-1', { phase: 'suppressed' }) }],
    ['SHUTS_DOWN', { incident: shutsDown }],
  ])("by an operator's word: %s", (code, facts) => {
    expect(put(facts)).toBe(code);
  });

  it('where its own node is replaced is that a boot of that starts it, that it is seen at all, or that somebody did not say', () => {
    const replace = (check: StartQuestions['replace']['check'], startsByItselfOn?: string): StartReason | undefined =>
      startRefusal('replace', { check, startingForMs: () => 0, startsByItselfOn })?.code;
    expect(replace({ kind: 'clear' })).toBeUndefined();
    expect(replace({ kind: 'clear' }, 'n-1')).toBe('STARTS_BY_ITSELF');
    expect(replace({ kind: 'there' })).toBe('RUNS_THERE');
    expect(replace(seen)).toBe('RUNS_ELSEWHERE');
    expect(replace(starting)).toBe('STARTS_ELSEWHERE');
    expect(replace({ kind: 'unknown', silent: ['n-2'], named: [], ungated: [] })).toBe('SILENT');
  });

  it('before it is placed is that a node still names it', () => {
    const place = (o: Partial<StartQuestions['place']> = {}): StartReason | undefined =>
      startRefusal('place', { workload: here, ...clear, leftForMs: () => 0, ...o })?.code;
    expect(place()).toBeUndefined();
    expect(place({ check: { kind: 'unknown', silent: ['n-2'], named: [], ungated: [] } })).toBeUndefined();
    expect(place({ check: seen, workload: { ...here, move } })).toBe('JUST_LEFT');
    expect(place({ check: seen, mayFollow: () => false })).toBe('RUNS_ON_THE_DEAD');
    expect(place({ check: starting })).toBe('STARTS_ELSEWHERE');
    expect(place({ check: seen })).toBe('RUNS_ELSEWHERE');
  });

  it('of the whole round is that a node has had it whose proof of off is in doubt, or void', () => {
    expect(startRefusal('round', { barred: undefined })).toBeUndefined();
    const barred = { is: 'in-doubt', node: 'n-3' } as const;
    expect(startRefusal('round', { barred })).toEqual({
      code: 'BARRED',
      why: 'What proved n-3 off is in doubt, or proves nothing: it may run there still.',
    });
    // A job may have got it before the doubt, and its unit may be about to start.
    expect([permission({ barred }), ask({ barred })]).toEqual(['BARRED', false]);
    for (const is of ['unreadable', 'unseen'] as const)
      expect(askStartGate({ ...gate, barred: { is, node: 'n-3' } })).toMatchObject({ allowed: false, code: 'BARRED' });
  });

  it("once an operator's word is written is that its node is gone or held", () => {
    const again = (o: Partial<StartQuestions['put-again']> = {}): StartReason | undefined =>
      startRefusal('put-again', { node: 'n-1', record: aNode('n-1'), holder: undefined, ...o })?.code;
    expect(again()).toBeUndefined();
    expect(again({ record: undefined })).toBe('NODE_UNKNOWN');
    expect(again({ holder: 'job-1' })).toBe('RESERVED');
  });

  it('is told of who does not say what it runs, and of who is not proven off and may have it, in a sentence each', () => {
    const why = (silent: string[], named: string[], ungated: string[] = []): string | undefined =>
      startRefusal('order', {
        ...{ workload: here, ...clear, leftForMs: () => 0, out: () => undefined, retryInMs: () => 0 },
        check: { kind: 'unknown', silent, named, ungated },
      })?.why;
    expect(why(['n-2', 'n-3'], [])).toBe('Held: it is not known what runs on n-2, n-3.');
    expect(why([], ['n-4'])).toBe('Held: n-4 named it last, and is not proven off.');
    expect(why([], ['n-4', 'n-5'])).toBe('Held: n-4, n-5 named it last, and are not proven off.');
    expect(why([], [], ['n-6'])).toBe('Held: n-6 may have started it without asking, and is not proven off.');
    expect(why(['n-2'], ['n-4'])).toBe(
      'Held: it is not known what runs on n-2. n-4 named it last, and is not proven off.',
    );
  });

  it('where a node is emptied is that it, or anybody else, does not say what it runs', () => {
    const nobody = { silent: [], named: [], ungated: [] };
    const refusal = (o: Partial<StartQuestions['move']>): StartRefusal | undefined =>
      startRefusal('move', { name: 'db', isInIncident: false, isSilent: false, unheard: nobody, ...o });
    const leave = (o: Partial<StartQuestions['move']> = {}): StartReason | undefined => refusal(o)?.code;
    const why = (silent: string[], named: string[], ungated: string[] = []): string | undefined =>
      refusal({ unheard: { silent, named, ungated } })?.why;
    expect(leave()).toBeUndefined();
    expect(leave({ isInIncident: true, isSilent: true })).toBe('LEAVES_BY_INCIDENT');
    expect(leave({ isSilent: true })).toBe('SOURCE_SILENT');
    expect(leave({ unheard: { silent: ['n-2'], named: [], ungated: [] } })).toBe('OTHERS_SILENT');
    expect(leave({ unheard: { silent: [], named: ['n-4'], ungated: [] } })).toBe('OTHERS_SILENT');
    expect(why(['n-2'], [])).toBe('n-2 must say what they run before anything starts.');
    expect(why([], ['n-4'])).toBe('db: n-4 named it last, and is not proven off.');
    expect(why([], [], ['n-6'])).toBe('db: n-6 may have started it without asking, and is not proven off.');
    expect(why(['n-2'], ['n-4'])).toBe(
      'n-2 must say what they run before anything starts. db: n-4 named it last, and is not proven off.',
    );
  });
});
