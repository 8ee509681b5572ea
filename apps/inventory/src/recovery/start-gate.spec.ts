import { describe, expect, it } from 'vitest';
import { IncidentPhases, isOpenIncident, type NodeRecord } from '#contracts';
import { aNode, anIncident, aWorkload } from '../testing/records.js';
import { askStartGate, type StartGateFacts } from './start-gate.js';

const here = aWorkload('db', { generation: 4, assignment: { node: 'n-1', generation: 4 } });
const ask = (o: Partial<StartGateFacts> = {}): boolean =>
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

  const refusals: [string, Partial<StartGateFacts>][] = [
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
