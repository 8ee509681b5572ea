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
} from './start-decision.js';

const aNode = (name: string, o: Partial<NodeRecord> = {}): NodeRecord =>
  healthyNode(name, { bootId: `boot-${name}`, ...o });

const here = aWorkload('db', { generation: 4, assignment: { node: 'n-1', generation: 4 } });
const ask = (o: Partial<RegistryFacts> = {}): boolean =>
  askStartGate({ node: 'n-1', workload: here, record: aNode('n-1'), incident: undefined, boot: 'boot-n-1', ...o })
    .allowed;

describe('the start gate', () => {
  it('lets a workload start on the node that it is assigned to, and names the generation', () => {
    const answer = askStartGate({
      node: 'n-1',
      workload: here,
      record: aNode('n-1'),
      incident: undefined,
      boot: 'boot-n-1',
    });
    expect(answer).toMatchObject({ allowed: true, generation: 4 });
  });

  const refusals: [string, Partial<RegistryFacts>][] = [
    ['an unknown workload', { workload: undefined }],
    ['an unknown node', { record: undefined }],
    ['another node than the assigned one', { node: 'n-2', record: aNode('n-2'), boot: 'boot-n-2' }],
    ['a workload that was taken from its node', { workload: aWorkload('db', { generation: 5 }) }],
    ['a workload that shall not run', { workload: { ...here, desired: 'stopped' } }],
    ['a held workload', { workload: { ...here, held: 'x' } }],
    [
      'a start that is owed before the other nodes were looked at',
      { workload: { ...here, start: { cause: 'incident:i', attempt: 0 } } },
    ],
    ['a node that counts as off', { record: aNode('n-1', { confirmedOff: { at: 1, incident: 'i' } }) }],
    ['a node in maintenance', { record: aNode('n-1', { maintenance: { at: 1, reason: 'fenced' } }) }],
    ['a returned node before its check', { record: aNode('n-1', { pendingReturn: { reason: 'rebooted', at: 1 } }) }],
    [
      'a node that was shut out',
      { record: aNode('n-1', { enrolled: false, revoked: { by: 'ann', at: 1, reason: 'stolen' } }) },
    ],
    ['a boot that nobody has accepted yet', { boot: 'boot-2' }],
    ['a boot that is not known', { boot: undefined }],
    [
      'a node of which no boot was accepted',
      { record: { ...aNode('n-1'), bootId: undefined } as unknown as NodeRecord },
    ],
  ];
  it.each(refusals)('refuses %s', (_what, facts) => {
    expect(ask(facts)).toBe(false);
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
    startRefusal('permission', { ...registry, ...clear, generation: 4, cleanup: undefined, ...o })?.code;
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

  it('is named by every reason of the table, each asked by somebody', () => {
    expect(new Set(Object.values(startQuestions).flat())).toEqual(new Set(Object.keys(startReasons)));
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
    ['SILENT', { check: { kind: 'unknown', nodes: ['n-2'] } }],
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
    ['OUT_OF_SERVICE', { out: () => 'it is cordoned', check: { kind: 'unknown', nodes: ['n-2'] } }],
    ['SILENT', { check: { kind: 'unknown', nodes: ['n-2'] } }],
    ['RETRY', { retryInMs: () => 1 }],
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
  ])("by an operator's word: %s", (code, facts) => {
    expect(put(facts)).toBe(code);
  });

  it('elsewhere is that it is seen at all, or that somebody did not say', () => {
    const replace = (check: StartQuestions['replace']['check']): StartReason | undefined =>
      startRefusal('replace', { check, startingForMs: () => 0 })?.code;
    expect(replace({ kind: 'clear' })).toBeUndefined();
    expect(replace({ kind: 'there' })).toBe('RUNS_THERE');
    expect(replace(seen)).toBe('RUNS_ELSEWHERE');
    expect(replace(starting)).toBe('STARTS_ELSEWHERE');
    expect(replace({ kind: 'unknown', nodes: ['n-2'] })).toBe('SILENT');
  });
});
