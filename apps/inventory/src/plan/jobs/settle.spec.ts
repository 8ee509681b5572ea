import { describe, expect, it } from 'vitest';
import type { JobRecord, NodeRecord, NodeResult } from '#contracts';
import { afterCheck, stageByCheck } from '#domain/return/after-check.js';
import { returnStage } from '#domain/return/stage.js';
import { aJob, aNode } from '../../testing/fixtures.js';
import { verdictOf } from '../../nodes/accepted-drift.js';
import { moveForJob } from '../../nodes/node-status.js';
import { settle, type SettleFacts } from './settle.js';

const facts: SettleFacts = { onReturn: 'resetup', at: 7 };
const site: NodeResult = { ok: true, step: 'site', checksum: 'new' };
const check = (result: 'ok' | 'drift' | 'broken', checksum = 'sum'): NodeResult => ({
  ok: true,
  step: 'check',
  check: { findings: [{ service: 'mirror', result, why: result === 'ok' ? '' : 'gone' }], checksum },
});
const job = (kind: JobRecord['kind'], result?: NodeResult, o: Partial<JobRecord> = {}): JobRecord =>
  aJob({ kind, results: result ? { 'a-1': result } : {}, ...o });
const failed: Partial<JobRecord> = { status: 'Errored', error: 'site failed' };
const back = (o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode('a-1', {
    status: 'Allocated',
    provisioned: { checksum: 'sum', at: 1, job: 'job-0' },
    maintenance: { reason: 'fenced', at: 1 },
    pendingReturn: { reason: 'rebooted', at: 1, job: 'job-1' },
    ...o,
  });
const kinds = (s: { events: { kind: string }[] }): string[] => s.events.map((e) => e.kind);

describe('a commission that ended', () => {
  const node = aNode('a-1', { status: 'Provisioning', prevStatus: 'Decommissioned' });

  it('makes its node Allocated, with what was installed on record', () => {
    const s = settle(node, job('commission', site), facts);
    expect(s.node).toMatchObject({ status: 'Allocated', prevStatus: 'Provisioning', lastJob: 'job-1' });
    expect(s.node.provisioned).toEqual({ checksum: 'new', at: 7, job: 'job-1' });
    expect(kinds(s)).toEqual(['in-service']);
  });
  it('keeps on record which services it told of: a check must tell of each again', () => {
    const s = settle(node, job('commission', { ...site, services: ['agent', 'mirror'] }), facts);
    expect(s.node.provisioned).toEqual({ checksum: 'new', at: 7, job: 'job-1', services: ['agent', 'mirror'] });
  });
  it('makes every node Unallocated where it failed, also those that went well', () => {
    const s = settle(node, job('commission', site, failed), facts);
    expect(s.node.status).toBe('Unallocated');
    expect(s.node.provisioned).toBeUndefined();
    expect(kinds(s)).toEqual([]);
  });
  it('puts a node back where it was when it was cancelled before it began', () => {
    const waiting = job('commission', undefined, failed);
    delete waiting.startedAt;
    expect(settle(node, waiting, facts).node.status).toBe('Decommissioned');
  });
  it('leaves a node that it never began with in the host group that it had', () => {
    const waiting = job('maintenance', undefined, { ...failed, hostGroup: 'service-master' });
    delete waiting.startedAt;
    const worker = aNode('a-1', { status: 'Allocated', hostGroup: 'service-worker' });
    const moved = moveForJob(worker, waiting) ?? worker;
    expect(moved.hostGroup).toBe('service-master');
    expect(settle(moved, waiting, facts).node).toMatchObject({ status: 'Allocated', hostGroup: 'service-worker' });
    const done = settle(moved, job('maintenance', site, { hostGroup: 'service-master' }), facts).node;
    expect(done).toMatchObject({ status: 'Allocated', hostGroup: 'service-master' });
    expect(done).not.toHaveProperty('hostGroupWas');
  });
});

describe('a decommission and an update that ended', () => {
  it('decommissions also where the cleanup failed', () => {
    const node = aNode('a-1', { status: 'Cancelled', provisioned: { checksum: 'sum', at: 1, job: 'job-0' } });
    const s = settle(node, job('decommission', { ok: false, step: 'cleanup', cleanupFailed: true }, failed), facts);
    expect(s.node.status).toBe('Decommissioned');
    expect(s.node.provisioned).toBeUndefined();
  });
  it('keeps the node Allocated when the decommission was cancelled before it began', () => {
    const waiting = job('decommission', undefined, failed);
    delete waiting.startedAt;
    expect(settle(aNode('a-1', { status: 'Cancelled' }), waiting, facts).node.status).toBe('Allocated');
  });
  it('brings an updated node back, and drops it where anything failed', () => {
    const node = aNode('a-1', { status: 'Maintenance' });
    expect(settle(node, job('maintenance', site), facts).node.status).toBe('Allocated');
    expect(settle(node, job('maintenance', site, failed), facts).node.status).toBe('Unallocated');
  });
});

describe('what a machine says of its hardware', () => {
  const hardware = { systemUuid: 'u', boardSerial: 'b' };
  it('is on record with whichever job it told it in, and keeps its date while it stays the same', () => {
    for (const kind of ['check', 'resetup', 'commission', 'maintenance'] as const)
      expect(settle(back(), job(kind, { ...check('ok'), hardware }), facts).node.hardware).toEqual({
        ...hardware,
        at: 7,
      });
    const known = back({ hardware: { ...hardware, at: 2 } });
    expect(settle(known, job('check', { ...check('ok'), hardware }), facts).node.hardware?.at).toBe(2);
    expect(settle(known, job('check', check('ok')), facts).node.hardware?.at).toBe(2);
    const moved = { ...hardware, boardSerial: 'c' };
    expect(settle(known, job('check', { ...check('ok'), hardware: moved }), facts).node.hardware).toEqual({
      ...moved,
      at: 7,
    });
  });
});

describe('a check of a returned node', () => {
  it('ends in the stage that its row says', () => {
    const lost: NodeResult = { ok: false, step: 'check', message: 'no route' };
    const results = [check('ok'), check('drift'), check('ok', 'other'), lost, { ...lost, unreachable: true as const }];
    const returns: NonNullable<NodeRecord['pendingReturn']>[] = [
      { reason: 'rebooted', at: 1, job: 'job-1' },
      { reason: 'degraded', at: 1, job: 'job-1' },
      { reason: 'rebooted', at: 1, job: 'job-2' },
      { reason: 'rebooted', at: 1, held: 'drift', heldBy: 'work' },
    ];
    for (const pendingReturn of returns)
      for (const result of results)
        for (const onReturn of ['resetup', 'ask', 'check-only'] as const) {
          const step = afterCheck(pendingReturn, {
            ...{ verdict: verdictOf(back(), result, facts.at), isOfReturn: pendingReturn.job === 'job-1' },
            ...{ isPeriodic: false, isUnreached: result.unreachable === true, onReturn },
          });
          const { node } = settle(back({ pendingReturn }), job('check', result), { ...facts, onReturn });
          expect(returnStage(node.pendingReturn)).toBe(stageByCheck[step.do] ?? returnStage(pendingReturn));
        }
  });
  it('that passes takes it back: nothing pending, no maintenance, what is installed unchanged', () => {
    const s = settle(back(), job('check', check('ok')), facts);
    expect(s.node.pendingReturn).toBeUndefined();
    expect(s.node.maintenance).toBeUndefined();
    expect(s.node.provisioned?.job).toBe('job-0');
    expect(kinds(s)).toEqual(['check', 'in-service']);
  });
  it.each([
    ['drift', check('drift')],
    ['broken', check('broken')],
    ['another effective configuration', check('ok', 'other')],
  ])('that finds %s asks for the re-setup', (_what, result) => {
    const s = settle(back(), job('check', result), facts);
    expect(s.node.pendingReturn).toEqual({ reason: 'rebooted', at: 1, next: 'resetup', found: expect.any(String) });
    expect(s.node.maintenance).toBeDefined();
    expect(kinds(s)).toEqual(['check']);
  });
  it('that finds all well in an unchanged boot, and only another configuration, asks an operator: it serves', () => {
    for (const reason of ['disappeared', 'degraded', 'first-seen'] as const) {
      const node = back({ pendingReturn: { reason, at: 1, job: 'job-1' } });
      const s = settle(node, job('check', check('ok', 'other')), facts);
      expect(s.node.pendingReturn?.held).toMatch(/drift, needs operator .*configuration/);
      expect(s.node.pendingReturn).not.toHaveProperty('next');
      expect(settle(node, job('check', check('drift', 'other')), facts).node.pendingReturn?.next).toBe('resetup');
    }
  });
  it('that tells nothing, or not of every service that was set up, has not been carried out', () => {
    const services = ['agent', 'mirror'];
    const node = back({ provisioned: { checksum: 'sum', at: 1, job: 'job-0', services } });
    const silent: NodeResult = { ok: true, step: 'check', check: { findings: [], checksum: 'sum' } };
    for (const [n, result] of [
      [back(), silent],
      [node, silent],
      [node, check('ok')],
    ] as const) {
      const s = settle(n, job('check', result), facts);
      const failedWhy = expect.stringMatching(/^it (told of no service|did not tell of)/) as unknown;
      expect(s.node.pendingReturn).toEqual({ reason: 'rebooted', at: 1, failedTries: 1, failedWhy });
      expect(s.node.maintenance).toBeDefined();
    }
    const all = check('ok');
    all.check?.findings.push({ service: 'agent', result: 'ok', why: '' });
    expect(settle(node, job('check', all), facts).node.pendingReturn).toBeUndefined();
  });
  it.each(['ask', 'check-only'] as const)(
    'that finds drift waits for an operator where the group says %s',
    (onReturn) => {
      const s = settle(back(), job('check', check('drift')), { ...facts, onReturn });
      expect(s.node.pendingReturn?.held).toContain('drift, needs operator');
      expect(s.node.pendingReturn?.job).toBeUndefined();
    },
  );
  it('that finds drift says what it has found: whether anything runs there is asked when the re-setup is due', () => {
    const s = settle(back(), job('check', check('drift')), facts);
    expect(s.node.pendingReturn).toMatchObject({ next: 'resetup', found: 'mirror drift (gone)' });
  });
  it('that ssh does not get there with is tried again for ever, and counts as nothing that was found', () => {
    const nothing: NodeResult = { ok: false, step: 'check', unreachable: true, message: 'no route to host' };
    let node = back({ pendingReturn: { reason: 'rebooted', at: 1, failedTries: 1 } });
    for (let n = 1; n <= 15; n += 1) {
      node = { ...node, pendingReturn: { ...(node.pendingReturn ?? { reason: 'rebooted', at: 1 }), job: 'job-1' } };
      node = settle(node, job('check', nothing, failed), facts).node;
      const unreached = { tries: n, why: 'no route to host' };
      expect(node.pendingReturn).toEqual({ reason: 'rebooted', at: 1, failedTries: 1, unreached });
    }
    const found = {
      ...node,
      pendingReturn: { reason: 'rebooted' as const, at: 1, job: 'job-1', unreached: { tries: 9, why: '' } },
    };
    expect(settle(found, job('check', check('drift')), facts).node.pendingReturn).not.toHaveProperty('unreached');
  });
  it('that could not be carried out is tried again for ever, with the reason: never passed, and held for nobody', () => {
    const nothing: NodeResult = { ok: false, step: 'check', message: 'no such module' };
    let node = back();
    for (let n = 1; n <= 15; n += 1) {
      node = settle(node, job('check', nothing, failed), facts).node;
      expect(node.pendingReturn).toEqual({ reason: 'rebooted', at: 1, failedTries: n, failedWhy: 'no such module' });
      expect(node.maintenance).toBeDefined();
      node = { ...node, pendingReturn: { ...(node.pendingReturn ?? { reason: 'rebooted', at: 1 }), job: 'job-1' } };
    }
    const found = settle(node, job('check', check('drift')), facts).node.pendingReturn;
    expect(found).toEqual({ reason: 'rebooted', at: 1, next: 'resetup', found: 'mirror drift (gone)' });
  });
  it('that could not look at one of its services says which, and is no pass; what it did find counts', () => {
    const web = { service: 'web', result: 'unknown' as const, why: 'task "Ask it": no such module' };
    const half = check('ok');
    half.check?.findings.push(web);
    const s = settle(back(), job('check', half), facts);
    expect(s.node.pendingReturn).toEqual({
      ...{ reason: 'rebooted', at: 1, failedTries: 1 },
      failedWhy: 'web could not be checked (task "Ask it": no such module)',
    });
    expect(kinds(s)).toEqual(['check']);
    const broken = check('broken');
    broken.check?.findings.push(web);
    expect(settle(back(), job('check', broken), facts).node.pendingReturn).toMatchObject({
      next: 'resetup',
      found: 'mirror broken (gone)',
    });
  });
  it('that finds nothing else than services which may be set up by themselves asks for these only', () => {
    const found = (change: (c: NonNullable<NodeResult['check']>) => void, provisioned = {}): string[] | undefined => {
      const result = check('broken');
      result.check?.findings.push(
        { service: 'web', result: 'drift', why: '' },
        { service: 'db', result: 'ok', why: '' },
      );
      if (result.check) {
        result.check.alone = ['mirror', 'web'];
        change(result.check);
      }
      const node = back({ provisioned: { checksum: 'sum', at: 1, job: 'job-0', ...provisioned } });
      const pending = settle(node, job('check', result), facts).node.pendingReturn;
      expect(pending?.next).toBe('resetup');
      return pending?.only;
    };
    expect(found(() => undefined)).toEqual(['mirror', 'web']);
    // Whatever else is to be repaired, or is not known, takes the whole way.
    expect(found((c) => (c.alone = ['web']))).toBeUndefined();
    expect(found((c) => delete c.alone)).toBeUndefined();
    expect(found((c) => (c.checksum = 'other'))).toBeUndefined();
    expect(found((c) => c.findings.push({ service: 'log', result: 'unknown', why: '' }))).toBeUndefined();
    expect(found(() => undefined, { services: ['db', 'gone'] })).toBeUndefined();
    const { provisioned: _p, ...never } = back();
    expect(settle(never, job('check', check('broken')), facts).node.pendingReturn).not.toHaveProperty('only');
  });
  it('does not answer for a return that came after it', () => {
    const newer = back({ pendingReturn: { reason: 'rebooted', at: 2 } });
    const s = settle(newer, job('check', check('ok')), facts);
    expect(s.node.pendingReturn).toEqual({ reason: 'rebooted', at: 2 });
    expect(s.node).not.toHaveProperty('lastCheck');
    expect(s.node.maintenance).toBeDefined();
    expect(kinds(s)).toEqual(['check']);
  });
  it('by an operator frees a held node when it passes, and leaves a serving one alone when it does not', () => {
    const held = back({ pendingReturn: { reason: 'rebooted', at: 1, held: 'drift' } });
    expect(settle(held, job('check', check('ok')), facts).node.pendingReturn).toBeUndefined();
    const { pendingReturn: _p, maintenance: _m, ...serving } = back();
    const s = settle(serving, job('check', check('drift')), facts);
    expect(s.node).toEqual({
      ...serving,
      lastJob: 'job-1',
      lastCheck: expect.objectContaining({ job: 'job-1' }),
      findings: s.node.findings,
    });
    expect(kinds(settle(serving, job('check', check('ok')), facts))).toEqual(['check']);
  });
});

/** Both have a folder of their own. */
const onRecord = {
  at: 3,
  job: 'job-0',
  services: {
    log: { result: 'ok', why: '', since: 1, version: '1', mode: 'any' },
    web: { result: 'drift', why: 'edited', since: 2, version: '3', mode: 'server' },
  },
} satisfies NodeRecord['findings'];

describe('which services stand on a node', () => {
  const node = (status: NodeRecord['status']) => aNode('a-1', { status, findings: onRecord });

  it('is known no more once all of them were cleaned up', () => {
    const cleaned: NodeResult = { ok: true, step: 'cleanup' };
    expect(settle(node('Cancelled'), job('decommission', cleaned), facts).node).not.toHaveProperty('findings');
    const bad: NodeResult = { ok: false, step: 'site', message: 'disk full' };
    expect(settle(node('Provisioning'), job('commission', bad, failed), facts).node).not.toHaveProperty('findings');
  });
  it.each<[JobRecord['kind'], NodeRecord['status'], NodeResult]>([
    ['maintenance', 'Maintenance', { ok: false, step: 'site', message: 'disk full' }],
    ['decommission', 'Cancelled', { ok: false, step: 'cleanup', message: 'disk full', cleanupFailed: true }],
    ['commission', 'Provisioning', { ok: false, step: 'site', message: 'disk full', cleanupFailed: true }],
  ])('is not forgotten by a %s that failed halfway', (kind, status, result) => {
    const { findings } = settle(node(status), job(kind, result, failed), facts).node;
    const unknown = { result: 'unknown', why: `${kind} failed: disk full`, since: 7 };
    expect(findings?.services['web']).toEqual({ ...onRecord.services.web, ...unknown });
  });
});

describe('a re-setup', () => {
  const due = back({ pendingReturn: { reason: 'rebooted', at: 1, next: 'resetup', job: 'job-1' } });

  it('that worked takes the node back with its new checksum', () => {
    const s = settle(due, job('resetup', site), facts);
    expect(s.node.pendingReturn).toBeUndefined();
    expect(s.node.maintenance).toBeUndefined();
    expect(s.node.provisioned?.checksum).toBe('new');
    expect(kinds(s)).toEqual(['resetup', 'in-service']);
  });
  it('of some services only does not vouch for others whose content has changed meanwhile', () => {
    const s = settle(due, job('resetup', site, { services: ['mirror'] }), facts);
    expect(s.node.provisioned?.checksum).toBe('sum');
    expect(kinds(s)).toEqual(['resetup', 'in-service']);
  });
  it('that failed leaves maintenance with the reason, for an operator', () => {
    const bad: NodeResult = { ok: false, step: 'site', failedTask: 'install mirror', message: 'disk full' };
    const s = settle(due, job('resetup', bad, failed), facts);
    expect(s.node.maintenance?.reason).toBe('re-setup failed: install mirror: disk full');
    expect(s.node.pendingReturn).toEqual({
      reason: 'rebooted',
      at: 1,
      held: 're-setup failed: install mirror: disk full',
    });
    expect(s.node.status).toBe('Allocated');
  });
  it.each(['check', 'resetup'] as const)(
    'as a %s that was refused or cancelled before it began leaves its return waiting',
    (kind) => {
      const waiting = job(kind, undefined, { status: 'Errored', error: 'STALE_TOKEN' });
      delete waiting.startedAt;
      const s = settle(due, waiting, facts);
      expect(s.node.pendingReturn).toEqual({ reason: 'rebooted', at: 1, next: 'resetup' });
      expect(s.node.maintenance).toEqual(due.maintenance);
      expect(s.events).toEqual([]);
    },
  );
  it('that no worker can carry out as it is waits for an operator, although nothing ran', () => {
    const faulty = job('resetup', undefined, { status: 'Errored', error: 'COMMAND_FAILED', worker: 'p-1' });
    delete faulty.startedAt;
    expect(settle(due, faulty, facts).node.pendingReturn?.held).toContain('re-setup failed');
    const cancelled = { ...faulty, cancel: { by: 'eve', at: 1 } };
    expect(settle(due, cancelled, facts).node.pendingReturn?.held).toBeUndefined();
  });
  it('that was refused before anything ran takes no node out of service, and forgets nothing', () => {
    const refused = job('resetup', undefined, { status: 'Errored', error: 'CONFIG_INVALID', worker: 'p-1' });
    delete refused.startedAt;
    const { maintenance: _m, ...returned } = { ...due, findings: onRecord };
    const s = settle(returned, refused, facts);
    expect(s.node).not.toHaveProperty('maintenance');
    expect(s.node).toMatchObject({ findings: onRecord, pendingReturn: { held: 're-setup failed: CONFIG_INVALID' } });
    expect(kinds(s)).toEqual(['resetup']);
    const { pendingReturn: _p, ...serving } = returned;
    expect(settle(serving, refused, facts).node).toEqual({ ...serving, lastJob: 'job-1' });
    const held = { ...returned, pendingReturn: { reason: 'rebooted', at: 1, held: 'drift' } as const };
    expect(settle(held, { ...refused, id: 'job-2' }, facts).node).toEqual({ ...held, lastJob: 'job-2' });
  });
  it('that failed halfway leaves on record which services were there, in what state is unknown', () => {
    const bad: NodeResult = { ok: false, step: 'site', message: 'disk full' };
    const whole = settle({ ...due, findings: onRecord }, job('resetup', bad, failed), facts).node;
    const why = 're-setup failed: disk full';
    expect(whole.findings).toEqual({
      at: 7,
      job: 'job-1',
      services: {
        log: { ...onRecord.services.log, result: 'unknown', why, since: 7 },
        web: { ...onRecord.services.web, result: 'unknown', why, since: 7 },
      },
    });
    const again = settle(whole, job('resetup', bad, { ...failed, id: 'job-2' }), { ...facts, at: 9 }).node;
    expect(again.findings).toMatchObject({ at: 9, services: { web: { since: 7 } } });
    const one = settle(
      { ...due, findings: onRecord },
      job('resetup', bad, { ...failed, services: ['web'] }),
      facts,
    ).node;
    expect(one.findings?.services).toMatchObject({ log: onRecord.services.log, web: { result: 'unknown' } });
  });
  it('that was ordered by an operator and never began leaves the node as it was', () => {
    const waiting = job('resetup', undefined, { id: 'job-2', status: 'Errored', error: 'cancelled by eve' });
    delete waiting.startedAt;
    const { pendingReturn: _p, maintenance: _m, ...serving } = back();
    expect(settle(serving, waiting, facts).node).toEqual({ ...serving, lastJob: 'job-2' });
    expect(settle(due, waiting, facts).node.pendingReturn).toEqual(due.pendingReturn);
  });
  it('that worked under one more return still waits for the check of that return', () => {
    const newer = back({ pendingReturn: { reason: 'rebooted', at: 2 } });
    const s = settle(newer, job('resetup', site), facts);
    expect(s.node).toMatchObject({ pendingReturn: { reason: 'rebooted', at: 2 }, provisioned: { checksum: 'new' } });
    expect(s.node.maintenance).toBeDefined();
    expect(kinds(s)).toEqual(['resetup']);
  });
});

describe('a re-setup that a reboot has cut short', () => {
  const bad: NodeResult = { ok: false, step: 'site', unreachable: true, message: 'no route to host' };
  it('is no failure: the check of that reboot decides', () => {
    const newer = back({ pendingReturn: { reason: 'rebooted', at: 2 } });
    const s = settle(newer, job('resetup', bad, failed), facts);
    expect(s.node.pendingReturn).toEqual({ reason: 'rebooted', at: 2 });
    expect(s.node.maintenance).toEqual(newer.maintenance);
    expect(kinds(s)).toEqual(['resetup']);
  });
  it('waits for an operator where the node was only away for a moment', () => {
    const newer = back({ pendingReturn: { reason: 'disappeared', at: 2 } });
    expect(settle(newer, job('resetup', bad, failed), facts).node.pendingReturn?.held).toContain('re-setup failed');
  });
});

describe('ssh host keys that a job has learned', () => {
  const key = ['ssh-ed25519 AAAA'];
  it.each(['commission', 'check', 'resetup', 'recover'] as const)(
    'are pinned by a %s, also by one that failed',
    (kind) => {
      const bad: NodeResult = { ok: false, step: 'site', message: 'disk full', hostKeys: key };
      expect(settle(aNode('a-1'), job(kind, bad, failed), facts).node.sshHostKeys).toEqual(key);
    },
  );
  it('replace none that are pinned, and clear none', () => {
    const pinned = aNode('a-1', { sshHostKeys: ['ssh-rsa BBBB'] });
    expect(settle(pinned, job('check', { ...check('ok'), hostKeys: key }), facts).node.sshHostKeys).toEqual([
      'ssh-rsa BBBB',
    ]);
    expect(settle(pinned, job('check', check('ok')), facts).node.sshHostKeys).toEqual(['ssh-rsa BBBB']);
  });
});

describe('what is kept of the services of a node', () => {
  const declared = { mirror: { version: '3', mode: 'server' } };
  const serving = aNode('a-1', { status: 'Allocated', provisioned: { checksum: 'sum', at: 1, job: 'job-0' } });
  const looked = (result: 'ok' | 'drift' | 'broken', at: number, from = serving): NodeRecord =>
    settle(from, job('check', { ...check(result), declared }), { ...facts, at }).node;

  it('is what a check has found of each, and since when it is so', () => {
    const first = looked('drift', 7);
    expect(first.findings).toEqual({
      at: 7,
      job: 'job-1',
      services: { mirror: { result: 'drift', why: 'gone', since: 7, version: '3', mode: 'server' } },
    });
    const second = looked('drift', 9, first);
    expect(second.findings).toMatchObject({ at: 9, services: { mirror: { result: 'drift', since: 7 } } });
    expect(looked('ok', 11, second).findings).toMatchObject({
      at: 11,
      services: { mirror: { result: 'ok', since: 11 } },
    });
  });
  it('is ok after a site run that told of them', () => {
    const told = { ...site, services: ['agent', 'mirror'], declared };
    expect(settle(aNode('a-1', { status: 'Provisioning' }), job('commission', told), facts).node.findings).toEqual({
      at: 7,
      job: 'job-1',
      services: {
        agent: { result: 'ok', why: '', since: 7 },
        mirror: { result: 'ok', why: '', since: 7, version: '3', mode: 'server' },
      },
    });
  });
  it('stays as it was where a look could not be carried out, and takes no member of every object for a service', () => {
    const first = looked('drift', 7);
    const lost: NodeResult = { ok: false, step: 'check', message: 'no route', unreachable: true };
    expect(settle(first, job('check', lost, failed), { ...facts, at: 9 }).node.findings).toEqual(first.findings);
    const odd = check('ok');
    odd.check?.findings.push({ service: 'constructor', result: 'ok', why: '' });
    const { findings } = settle(first, job('check', { ...odd, declared }), { ...facts, at: 9 }).node;
    expect(findings?.services['constructor']).toEqual({ result: 'ok', why: '', since: 9 });
  });
});

describe('a test of a service', () => {
  it.each(['Complete', 'Errored'] as const)(
    'that is %s leaves the node as it was: out of service, with nothing on record',
    (status) => {
      const node = aNode('a-1', { status: 'Unallocated' });
      const result: NodeResult = { ok: status === 'Complete', step: 'service-test', checksum: 'c', services: ['web'] };
      expect(settle(node, job('service-test', result, { status }), facts)).toEqual({ node, events: [] });
      expect(moveForJob(node, job('service-test', undefined, { hostGroup: 'service-worker' }))).toBeUndefined();
    },
  );
});
