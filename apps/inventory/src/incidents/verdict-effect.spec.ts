import { describe, expect, it } from 'vitest';
import { VerdictKinds, closedPhases, type IncidentRecord, type PowerCommand, type VerdictKind } from '#contracts';
import { mayCancel } from '#domain/incident/phases.js';
import { go } from '#domain/incident/steps.js';
import { isCancelledByOperator, cancelByOperator, operatorCancelOver } from '../plan/incidents/operator-cancel.js';
import { verdictEffect } from '#domain/incident/verdict-effect.js';
import { anIncident } from '../testing/records.js';

const off: PowerCommand = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off', at: 1 };
const status: PowerCommand = { ...off, verb: 'status' };

describe('an incident', () => {
  it.each(['UP', 'DEGRADED', 'LEFT', 'UNKNOWN', 'SUSPECT'] as const)(
    'that is to be fenced is cancelled by %s before the first command',
    (verdict) => {
      const i = anIncident('n-1', { phase: 'fencing', commands: [status] });
      expect(verdictEffect(i, { verdict, reason: 'x' }).kind).toBe('cancel');
    },
  );

  it('goes on with DOWN', () => {
    expect(verdictEffect(anIncident('n-1', { phase: 'fencing' }), { verdict: 'DOWN', reason: 'x' }).kind).toBe(
      'stands',
    );
  });

  it('cannot be cancelled once an off was ordered, answered or not', () => {
    for (const phase of ['fencing', 'failed'] as const) {
      const i = anIncident('n-1', { phase, commands: [off] });
      expect(mayCancel(i)).toBe(false);
      expect(() => go(i, 'cancelled', 'x', 1)).toThrow('power-off was ordered');
      expect(verdictEffect(i, { verdict: 'UP', reason: 'x' }).kind).toBe('survived-after-quarantine');
      expect(verdictEffect(i, { verdict: 'UNKNOWN', reason: 'x' }).kind).toBe('stands');
    }
  });

  it('is not cancelled by life once an operator forced its release', () => {
    const released = { by: 'eve', reason: 'x', at: 1, gates: ['LIFE_SIGN' as const], force: true };
    const i = anIncident('n-1', { phase: 'fencing', cause: 'manual', released });
    expect(verdictEffect(i, { verdict: 'UP', reason: 'x' }).kind).toBe('stands');
  });

  it('that a person wanted while the node was not heard ends when it is heard again, ordered, released or both', () => {
    const released = { by: 'eve', reason: 'x', at: 1, gates: ['BLIND' as const], force: true };
    const effect = (o: Partial<IncidentRecord>, verdict: VerdictKind): string =>
      verdictEffect(anIncident('n-1', { phase: 'suppressed', cause: 'manual', ...o }), { verdict, reason: 'x' }).kind;
    for (const wantedAt of ['UNKNOWN', 'DOWN', 'SUSPECT', 'LEFT'] as const)
      for (const o of [{}, { released }]) {
        for (const heard of ['UP', 'DEGRADED'] as const) expect(effect({ ...o, wantedAt }, heard)).toBe('cancel');
        expect(effect({ ...o, wantedAt, degraded: true }, 'DEGRADED')).toBe('stands');
        expect(effect({ ...o, wantedAt }, 'UNKNOWN')).toBe('stands');
      }
    for (const wantedAt of ['UP', 'DEGRADED'] as const) expect(effect({ released, wantedAt }, 'UP')).toBe('stands');
    expect(effect({ wantedAt: 'UNKNOWN', phase: 'fencing', commands: [off] }, 'UP')).toBe('survived-after-quarantine');
  });

  it('that an operator cancelled before its command is over when its node is heard, or runs another boot', () => {
    const by = { by: 'eve', reason: 'x', at: 2 };
    const i = cancelByOperator(anIncident('n-1', { phase: 'fencing' }), { ...by, now: 'DOWN' });
    expect(isCancelledByOperator(i)).toBe(true);
    for (const v of ['DOWN', 'SUSPECT', 'UNKNOWN', 'LEFT', undefined] as const)
      expect(operatorCancelOver(i, v, i.bootId)).toBeUndefined();
    expect(operatorCancelOver(i, 'DEGRADED', i.bootId)?.takenBack?.over).toBe(true);
    expect(operatorCancelOver({ ...i, degraded: true }, 'DEGRADED', i.bootId)).toBeUndefined();
    expect(operatorCancelOver(i, 'DOWN', 'another')?.takenBack?.over).toBe(true);
    expect(
      isCancelledByOperator(cancelByOperator(anIncident('n-1', { phase: 'suppressed' }), { ...by, now: 'UP' })),
    ).toBe(false);
    expect(() =>
      cancelByOperator(anIncident('n-1', { phase: 'failed', commands: [off] }), { ...by, now: 'UP' }),
    ).toThrow('power-off was ordered');
  });

  it('waits at its gate through a detector that changes its leader', () => {
    const i = anIncident('n-1', { phase: 'suppressed', gate: 'CAP' });
    expect(verdictEffect(i, { verdict: 'UNKNOWN', reason: 'x' }).kind).toBe('stands');
    expect(verdictEffect(i, { verdict: 'UP', reason: 'x' }).kind).toBe('cancel');
  });

  it('after the off is no longer a matter of verdicts', () => {
    for (const phase of ['fenced', 'recovering', 'recovered', ...closedPhases] as const)
      for (const verdict of VerdictKinds)
        expect(verdictEffect(anIncident('n-1', { phase }), { verdict, reason: 'x' }).kind).toBe('irrelevant');
  });
});
