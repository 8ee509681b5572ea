import { describe, expect, it } from 'vitest';
import { anIncident } from '#contracts/testing/an-incident.js';
import { aNode } from '#contracts/testing/a-node.js';
import { defaultFencing, isPaused, type JobRecord, type PowerCommand } from '#contracts';
import { pausedFor, supersededIncident, supersededJob, supersededNode, withoutClaims } from './superseded.js';

const by = { why: 'The store was put back', at: 9 };
const off: PowerCommand = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off', at: 1 };
const on = { action: 'on' as const, by: 'ann', reason: 'r', at: 1, after: 0 };

describe('in a store of an earlier moment', () => {
  it.each(['open', 'investigating', 'suppressed', 'fencing', 'failed'] as const)(
    'an incident that is %s without a command is cancelled',
    (phase) => {
      expect(supersededIncident(anIncident('a-1', { phase }), by)).toMatchObject({ phase: 'cancelled' });
    },
  );

  it.each(['fencing', 'failed'] as const)('one that is %s after a command stays for its verdict of then', (phase) => {
    const i = supersededIncident(anIncident('a-1', { phase, commands: [off], order: on }), by);
    expect(i).toMatchObject({ phase, order: { done: true, ok: false } });
  });

  it.each(['fenced', 'recovering', 'recovered'] as const)('the proof of off of one that is %s is void', (phase) => {
    const was = { proof: { kind: 'read-back' as const, at: 1 }, powerOn: { wanted: true, requestedAt: 1 }, retryAt: 5 };
    const i = supersededIncident(
      anIncident('a-1', { phase, commands: [off], ...was, order: on, drill: { at: 1 } }),
      by,
    );
    expect(i).toMatchObject({ phase: 'failed', order: { done: true }, drill: { result: { ok: false } } });
    expect(i).not.toHaveProperty('proof');
    expect(i).not.toHaveProperty('powerOn');
    expect(i).not.toHaveProperty('retryAt');
  });

  it('one that is over stands, but for an order to the power', () => {
    expect(supersededIncident(anIncident('a-1', { phase: 'closed' }), by)).toBeUndefined();
    expect(supersededIncident(anIncident('a-1', { phase: 'closed', order: on }), by)).toMatchObject({
      phase: 'closed',
      order: { done: true, ok: false },
    });
  });

  it('the node of a void proof counts as a member again, and no other does', () => {
    const node = aNode('a-1', { confirmedOff: { at: 1, incident: 'i-1' } });
    expect(supersededNode(node, 'i-2', by)).toBeUndefined();
    const next = supersededNode(node, 'i-1', by);
    expect(next).not.toHaveProperty('confirmedOff');
    expect(next).toMatchObject({ pendingReturn: { reason: 'disappeared', at: 9 } });
  });

  it('a job that has not ended has failed', () => {
    const job = { id: 'j', status: 'Running', moving: ['w'], results: {}, settled: false } as unknown as JobRecord;
    expect(supersededJob(job, by)).toEqual({
      ...{ id: 'j', status: 'Errored', results: {}, settled: false, endedAt: 9 },
      error: 'The store was put back: ask for it anew',
    });
    expect(supersededJob({ ...job, status: 'Complete' }, by)).toBeUndefined();
  });

  it('nothing is claimed, and what a job holds is held still', () => {
    const claim = { id: 'c', owner: 'o', nodes: ['a-1', 'b-1'], by: 'x', at: 1 };
    const held = {
      'a-1': { claim: 'c', generation: 1, at: 1 },
      'b-1': { claim: 'c', job: 'j', generation: 2, at: 2 },
    };
    const next = withoutClaims({ held, pending: {}, claims: { c: claim }, generation: 2 });
    expect(next).toMatchObject({ held: { 'b-1': { job: 'j' } }, claims: {} });
    expect(Object.keys(next?.held ?? {})).toEqual(['b-1']);
    expect(withoutClaims({ held: {}, pending: {}, generation: 0 })).toBeUndefined();
  });

  it('fencing is paused whatever the time of day', () => {
    expect(isPaused(pausedFor(defaultFencing, by).paused, Number.MAX_SAFE_INTEGER)).toBe(true);
    expect(isPaused({ until: 5, reason: '', by: '' }, 5)).toBe(false);
    expect(isPaused(undefined, 0)).toBe(false);
  });
});
