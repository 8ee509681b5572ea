import { describe, expect, it } from 'vitest';
import { PERIODIC, type Finding, type JobRecord, type NodeRecord, type NodeResult } from '#contracts';
import { aJob, aNode } from '../testing/fixtures.js';
import { verdictOf, withAcceptedDrift } from './accepted-drift.js';
import { settle } from '../plan/jobs/settle.js';

const finding = (service: string, result: Finding['result'], o: Partial<Finding> = {}): Finding => ({
  service,
  result,
  why: result === 'ok' ? '' : `/etc/${service}.conf is not as it was installed`,
  ...(result === 'drift' && { digest: 'content-1' }),
  ...o,
});
const told = (findings: Finding[], checksum = 'sum'): NodeResult => ({
  ok: true,
  step: 'check',
  check: { findings, checksum, alone: ['web'] },
});
const drift = finding('web', 'drift');
const ok = finding('log', 'ok');
const order = { by: 'ann', reason: 'a trial of the new limit' };
const facts = { onReturn: 'resetup', at: 50 } as const;
const job = (kind: JobRecord['kind'], result: NodeResult, o: Partial<JobRecord> = {}): JobRecord =>
  aJob({ kind, results: { 'a-1': result }, ...o });
const serving = (o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode('a-1', {
    status: 'Allocated',
    provisioned: { checksum: 'sum', at: 1, job: 'job-0', services: ['log', 'web'] },
    ...o,
  });
const checked = (findings: Finding[], o: Partial<NodeRecord> = {}, checksum = 'sum'): NodeRecord =>
  settle(serving(o), job('check', told(findings, checksum), { cause: PERIODIC }), facts).node;
const accepted = (o: { until?: number } = {}): NodeRecord =>
  withAcceptedDrift(checked([drift, ok]), { ...order, ...o }, 100);
const verdict = (n: NodeRecord, findings: Finding[], at = 200, checksum = 'sum') =>
  verdictOf(n, told(findings, checksum), at);

describe('a drift that an operator has accepted', () => {
  it('is kept with who, why and until when, and exactly what was found', () => {
    expect(accepted({ until: 900 }).acceptedDrift).toEqual({
      ...order,
      at: 100,
      until: 900,
      check: 'job-1',
      checksum: 'sum',
      findings: [drift],
    });
  });
  it('counts as ok', () => {
    expect(verdict(accepted(), [drift, ok])).toEqual({ outcome: 'pass', why: '' });
    expect(verdict(serving(), [drift, ok]).outcome).toBe('drift');
  });
  it.each<[string, Finding[], string?]>([
    ['another content of the same file', [finding('web', 'drift', { digest: 'content-2' }), ok]],
    ['another reason', [finding('web', 'drift', { why: '/etc/other.conf is missing' }), ok]],
    ['the same finding without its content', [finding('web', 'drift', { digest: undefined as never }), ok]],
    ['a worse finding', [finding('web', 'broken', { why: drift.why, digest: 'content-1' }), ok]],
    ['a drift of another service', [drift, finding('log', 'drift')]],
    ['another effective configuration', [drift, ok], 'other'],
    ['that configuration alone', [finding('web', 'ok'), ok], 'other'],
  ])('does not hide %s', (_what, findings, checksum = 'sum') => {
    expect(verdict(accepted(), findings, 200, checksum).outcome).toBe('drift');
  });
  it('does not hide a service that could not be looked at, or of which nothing was told', () => {
    expect(verdict(accepted(), [drift, finding('log', 'unknown')]).outcome).toBe('unknown');
    expect(verdict(accepted(), [drift]).outcome).toBe('unknown');
  });
  it('is told of again from its end on', () => {
    const n = accepted({ until: 900 });
    expect(verdict(n, [drift, ok], 899).outcome).toBe('pass');
    expect(verdict(n, [drift, ok], 900).outcome).toBe('drift');
  });
  it('is left alone where another service is set up again by itself', () => {
    const n = withAcceptedDrift(checked([finding('log', 'drift'), ok]), order, 100);
    const result = { ...told([finding('log', 'drift'), finding('web', 'broken')]) };
    expect(verdictOf(n, result, 200)).toMatchObject({
      outcome: 'drift',
      only: ['web'],
      why: expect.stringMatching(/^web broken/) as never,
    });
  });
  it('may be another effective configuration, with which all is well', () => {
    const n = withAcceptedDrift(checked([finding('web', 'ok'), ok], {}, 'other'), order, 100);
    expect(n.acceptedDrift).toMatchObject({ checksum: 'other', findings: [], configuration: true });
    expect(verdict(n, [finding('web', 'ok'), ok], 200, 'other').outcome).toBe('pass');
    expect(verdict(n, [finding('web', 'ok'), ok], 200, 'third').outcome).toBe('drift');
    expect(verdict(n, [drift, ok], 200, 'other').outcome).toBe('drift');
  });
  it('takes the place of what was accepted before', () => {
    const second = finding('web', 'drift', { digest: 'content-2' });
    const again = settle(accepted(), job('check', told([second, ok]), { id: 'job-2', cause: PERIODIC }), facts).node;
    const n = withAcceptedDrift(again, { by: 'bob', reason: 'another' }, 300);
    expect(n.acceptedDrift).toMatchObject({ by: 'bob', check: 'job-2', findings: [second] });
    expect(verdict(n, [drift, ok]).outcome).toBe('drift');
  });
  it.each(['commission', 'maintenance', 'resetup'] as const)('ends with a %s of its node', (kind) => {
    const status = { commission: 'Provisioning', maintenance: 'Maintenance', resetup: 'Allocated' } as const;
    const site: NodeResult = { ok: true, step: 'site', checksum: 'sum', services: ['log', 'web'] };
    const done = settle({ ...accepted(), status: status[kind] }, job(kind, site, { id: 'job-2' }), facts).node;
    expect(done.status).toBe('Allocated');
    expect(done).not.toHaveProperty('acceptedDrift');
    expect(done).not.toHaveProperty('lastCheck');
  });
  it('ends with a re-setup of its service, and not with one of another', () => {
    const site: NodeResult = { ok: true, step: 'site', checksum: 'sum', services: ['log', 'web'] };
    const after = (...services: string[]) =>
      settle(accepted(), job('resetup', site, { id: 'job-2', services }), facts).node.acceptedDrift;
    expect(after('web')).toBeUndefined();
    expect(after('log')).toMatchObject({ findings: [drift] });
  });
});

describe('a return with a drift that was accepted', () => {
  const back = { reason: 'rebooted', at: 9 } as const;

  it('goes into service without a re-setup', () => {
    const node = { ...accepted(), pendingReturn: { ...back, job: 'job-2' } };
    const s = settle(node, job('check', told([drift, ok]), { id: 'job-2', cause: 'return' }), facts);
    expect(s.node).not.toHaveProperty('pendingReturn');
    expect(s.node.acceptedDrift).toEqual(accepted().acceptedDrift);
    expect(s.events.map((e) => e.kind)).toEqual(['check', 'in-service']);
  });
  it('is set up again where it drifted once more', () => {
    const node = { ...accepted(), pendingReturn: { ...back, job: 'job-2' } };
    const second = told([finding('web', 'drift', { digest: 'content-2' }), ok]);
    const s = settle(node, job('check', second, { id: 'job-2', cause: 'return' }), facts);
    expect(s.node.pendingReturn).toMatchObject({ next: 'resetup', only: ['web'] });
  });
  it('is checked anew where it waited for an operator, or for its re-setup, and a running job is left alone', () => {
    const pending = (o: object): NodeRecord['pendingReturn'] =>
      withAcceptedDrift({ ...checked([drift, ok]), pendingReturn: { ...back, ...o } }, order, 100).pendingReturn;
    expect(pending({ held: 'drift, needs operator (onReturn: ask): web drift' })).toEqual(back);
    expect(pending({ held: 'drift, needs operator (it runs db): web drift', heldBy: 'work' })).toEqual(back);
    expect(pending({ next: 'resetup', found: 'web drift' })).toEqual(back);
    expect(pending({ held: 'flapping: 4 returns in ten minutes' })).toHaveProperty('held');
    expect(pending({ next: 'resetup', job: 'job-7' })).toMatchObject({ next: 'resetup', job: 'job-7' });
  });
});

describe('nothing is accepted', () => {
  const refused = (n: NodeRecord, o: object = {}): unknown => {
    try {
      withAcceptedDrift(n, { ...order, ...o }, 100);
    } catch (e) {
      return e;
    }
    return undefined;
  };
  it.each<[string, NodeRecord, string]>([
    ['of a node that no check has told of', serving(), 'there is nothing to accept: no check of a-1'],
    ['where all is well', checked([finding('web', 'ok'), ok]), 'the last check of a-1 found no drift'],
    ['of what is broken', checked([finding('web', 'broken'), ok]), 'what is broken cannot be accepted: web'],
    ['of what is told in words alone', checked([finding('web', 'drift', { digest: undefined as never }), ok]), 'web'],
    ['of what could not be looked at', checked([finding('web', 'unknown'), ok]), 'found no drift'],
  ])('%s', (_what, node, message) => {
    expect(refused(node)).toMatchObject({ code: 'BAD_REQUEST', message: expect.stringContaining(message) as never });
  });
  it('until a moment that is past, or where another check has come since', () => {
    const n = checked([drift, ok]);
    expect(refused(n, { until: 100 })).toMatchObject({ code: 'BAD_REQUEST', facts: { until: 100 } });
    expect(refused(n, { until: 101, check: 'job-1' })).toBeUndefined();
    expect(refused(n, { check: 'job-0' })).toMatchObject({ code: 'REVISION_CONFLICT', facts: { check: 'job-1' } });
  });
});

describe('a periodic check of a node in service', () => {
  const results: [string, NodeResult][] = [
    ['ok', told([finding('web', 'ok'), ok])],
    ['drift', told([drift, ok])],
    ['broken', told([finding('web', 'broken'), ok])],
    ['unknown', told([finding('web', 'unknown'), ok])],
    ['another configuration', told([finding('web', 'ok'), ok], 'other')],
    ['no way there', { ok: false, step: 'check', unreachable: true, message: 'no route to host' }],
  ];
  it.each(results)('that finds %s is on record, and changes nothing else of the node', (_what, result) => {
    const s = settle(serving(), job('check', result, { cause: PERIODIC }), facts);
    const { lastCheck, findings: _f, ...rest } = s.node;
    expect(rest).toEqual({ ...serving(), lastJob: 'job-1' });
    expect(lastCheck).toMatchObject({ at: 50, job: 'job-1', ok: result.ok });
    expect(s.events.every((e) => e.kind === 'check')).toBe(true);
  });
  it.each(results)(
    'that finds %s neither holds nor takes back a node that has left service meanwhile',
    (_what, result) => {
      for (const o of [
        { maintenance: { reason: 'fenced', at: 1 } },
        { pendingReturn: { reason: 'rebooted', at: 1, held: 'flapping' } },
      ] as const) {
        const { node } = settle(serving(o), job('check', result, { cause: PERIODIC }), facts);
        expect(node.maintenance).toEqual(serving(o).maintenance);
        expect(node.pendingReturn).toEqual(serving(o).pendingReturn);
      }
    },
  );
  it('counts those in a row that could not be carried out, and not one that was called off', () => {
    const fails = told([finding('web', 'unknown'), ok]);
    const again = (n: NodeRecord, id: string, result: NodeResult, o: Partial<JobRecord> = {}): NodeRecord =>
      settle(n, job('check', result, { id, cause: PERIODIC, ...o }), facts).node;
    const twice = again(again(serving(), 'job-1', fails), 'job-2', fails);
    expect(twice.lastCheck?.failed).toBe(2);
    const cancelled = { ok: false, step: 'check', message: 'cancelled' };
    const off = again(twice, 'job-3', cancelled, { status: 'Errored', cancel: { by: 'muster', at: 1 } });
    expect(off.lastCheck).toEqual(twice.lastCheck);
    expect(again(off, 'job-4', told([drift, ok])).lastCheck).not.toHaveProperty('failed');
  });
  it('that looked at the boot before is not what is known of the node', () => {
    const returned = serving({ pendingReturn: { reason: 'rebooted', at: 1 } });
    expect(settle(returned, job('check', told([drift, ok]), { cause: PERIODIC }), facts).node).not.toHaveProperty(
      'lastCheck',
    );
  });
});
