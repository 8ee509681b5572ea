import { describe, expect, it } from 'vitest';
import { FLAPPING, type AlarmCode, type AlarmRecord, type LastCheck, type NodeRecord } from '#contracts';
import { settle } from '../jobs/settle.js';
import { aJob, aNode } from '../../testing/fixtures.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { checkAlarmCodes, checkAlarms, returnAlarm, standingAlarm } from './check-alarms.js';

describe('the alarm of a node that is back and does not serve', () => {
  const pending = { reason: 'rebooted', at: 1 } as const;

  it('is check-failed, with the service and why, from the third check on that could not be carried out', () => {
    const why = 'web could not be checked (no such module)';
    const after = (failedTries: number) => returnAlarm('a-1', { ...pending, failedTries, failedWhy: why });
    expect(after(2)).toBeUndefined();
    expect(after(3)).toMatchObject({ code: 'check-failed', severity: 'warning' });
    expect(after(40)?.message).toContain(`could not be carried out 40 times: ${why}`);
  });
  it('is check-unreachable while ssh does not get there, and drift where a person is waited for', () => {
    const unreached = { tries: 3, why: 'no route' };
    expect(returnAlarm('a-1', { ...pending, failedTries: 9, failedWhy: 'x', unreached })?.code).toBe(
      'check-unreachable',
    );
    expect(returnAlarm('a-1', { ...pending, failedTries: 9, held: 'drift: web' })?.code).toBe('drift');
    expect(returnAlarm('a-1', pending)).toBeUndefined();
  });
  it('is resetup-failed where a re-setup has failed, and flapping where it came and went', () => {
    const held = (why: string) => returnAlarm('a-1', { ...pending, held: why });
    const job = aJob({
      kind: 'resetup',
      status: 'Errored',
      error: 'site failed',
      results: { 'a-1': { ok: false, step: 'site', failedTask: 'install mirror', message: 'disk full' } },
    });
    const back = aNode('a-1', { status: 'Allocated', pendingReturn: { ...pending, job: 'job-1' } });
    const failed = settle(back, job, { onReturn: 'resetup', at: 7 });
    expect(held(failed.node.pendingReturn?.held ?? '')).toMatchObject({
      code: 'resetup-failed',
      severity: 'critical',
      message: expect.stringContaining('disk full') as unknown,
    });
    expect(held(`${FLAPPING}: three returns`)).toMatchObject({ code: 'flapping', severity: 'warning' });
  });
});

describe('the alarm of a node in service, by its last check', () => {
  const last = (result: 'ok' | 'drift' | 'broken' | 'unknown', o: Partial<LastCheck> = {}): LastCheck => ({
    ...{ at: 5, job: 'job-1', ok: true, step: 'check' },
    check: {
      findings: [{ service: 'web', result, why: result === 'ok' ? '' : 'edited', digest: 'd1' }],
      checksum: 'sum',
    },
    ...o,
  });
  const node = (lastCheck: LastCheck, o: Partial<NodeRecord> = {}): NodeRecord =>
    aNode('a-1', { status: 'Allocated', provisioned: { checksum: 'sum', at: 1, job: 'job-0' }, lastCheck, ...o });
  const accepted = (until?: number): Partial<NodeRecord> => ({
    acceptedDrift: {
      ...{ by: 'ann', reason: 'a trial', at: 6, check: 'job-1', checksum: 'sum' },
      findings: [{ service: 'web', result: 'drift', why: 'edited', digest: 'd1' }],
      ...(until !== undefined && { until }),
    },
  });

  it('is drift, with the services, and says that nothing follows by itself', () => {
    expect(standingAlarm(node(last('ok')), 9)).toBeUndefined();
    const alarm = standingAlarm(node(last('drift')), 9);
    expect(alarm).toMatchObject({ code: 'drift', severity: 'warning' });
    expect(alarm?.message).toContain('web drift (edited)');
    expect(alarm?.message).toContain('Nothing was changed there, and it is not out of service for this.');
    expect(standingAlarm(node(last('broken')), 9)).toMatchObject({ code: 'drift', severity: 'critical' });
  });
  it('is none while the drift is accepted, and is there again from its end on', () => {
    expect(standingAlarm(node(last('drift'), accepted()), 9)).toBeUndefined();
    expect(standingAlarm(node(last('drift'), accepted(10)), 9)).toBeUndefined();
    expect(standingAlarm(node(last('drift'), accepted(10)), 10)?.message).toContain(
      'What was accepted by ann (a trial) has ended.',
    );
    expect(standingAlarm(node(last('broken'), accepted()), 9)?.message).toContain('It is not what was accepted by ann');
  });
  it('is check-failed from the third check in a row on that could not be carried out, or check-unreachable', () => {
    expect(standingAlarm(node(last('unknown', { failed: 2 })), 9)).toBeUndefined();
    const alarm = standingAlarm(node(last('unknown', { failed: 3 })), 9);
    expect(alarm).toMatchObject({ code: 'check-failed', severity: 'warning' });
    expect(alarm?.message).toContain('web could not be checked (edited)');
    const { check: _none, ...nothing } = last('ok', { ok: false, unreachable: true, message: 'no route', failed: 3 });
    expect(standingAlarm(node(nothing), 9)).toMatchObject({ code: 'check-unreachable' });
  });
  it('is none of a node that is not Allocated any more, or was never checked', () => {
    expect(standingAlarm(node(last('drift'), { status: 'Decommissioned' }), 9)).toBeUndefined();
    expect(standingAlarm(aNode('a-1', { status: 'Allocated' }), 9)).toBeUndefined();
  });
});

it('raises what is to be said, and clears what is over, of its own codes alone', async () => {
  const store = new MemoryStore();
  const pendingReturn = { reason: 'rebooted', at: 1, held: 'drift: web' } as const;
  store.nodes.set('a-1', aNode('a-1', { pendingReturn }));
  const up = (code: AlarmCode): AlarmRecord => ({
    ...{ code, subject: 'gone', severity: 'warning', message: 'm', since: 1, count: 1 },
  });
  for (const code of [...checkAlarmCodes, 'duplicate' as const]) store.alarms.set(`${code}=gone`, up(code));
  await playRun(planExecutor(store).drive(checkAlarms));
  const active = Object.entries(store.alarms.content).flatMap(([key, a]) => (a.cleared === undefined ? [key] : []));
  expect(active).toEqual(['drift=a-1', 'duplicate=gone']);
});
