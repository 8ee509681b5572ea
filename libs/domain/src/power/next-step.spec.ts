import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { IncidentPhases, type IncidentRecord, type PowerCommand, type PowerDevice, type PowerOrder } from '#contracts';
import { anIncident } from '#contracts/testing/an-incident.js';
import { runs } from '#contracts/testing/chance.js';
import { nextPowerStep } from './next-step.js';
import { powerOf, powerWish } from './power-wish.js';

const bmc: PowerDevice = { id: 'bmc', driver: 'ipmitool', address: '127.0.0.1' };
const command = (n: number, verb: PowerCommand['verb'], ok: boolean): PowerCommand => ({
  ...{ n, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb, at: 0, endedAt: 1 },
  result: { ok },
});
const order: PowerOrder = { action: 'on', by: 'eve', reason: 'memory', at: 1, after: 0 };
const wished = (phase: IncidentRecord['phase'], o: Partial<IncidentRecord>) =>
  powerWish(anIncident('n', { phase, ...o }))?.orderer;

describe('what is wanted of the power of a node', () => {
  const both: Partial<IncidentRecord> = {
    order,
    proof: { kind: 'read-back', at: 0, level: 0 },
    powerOn: { wanted: true, requestedAt: 0 },
  };
  const byPhase = (o: Partial<IncidentRecord>): Record<string, string> =>
    Object.fromEntries(
      IncidentPhases.flatMap((phase) => {
        const orderer = wished(phase, o);
        return orderer === undefined ? [] : [[phase, orderer]];
      }),
    );
  const quiet = { closed: 'operator', survived: 'operator', cancelled: 'operator' };

  it('is off before anything else, then on by the system, and last what an operator ordered', () => {
    expect(byPhase(both)).toEqual({ fencing: 'incident', recovering: 'system', recovered: 'system', ...quiet });
  });

  it('is nothing of a cycle between its off and the end of the recovery', () => {
    expect(byPhase({ order })).toEqual({ fencing: 'incident', recovered: 'operator', ...quiet });
  });

  it('is nothing by the system without a proof of off, or once it is done', () => {
    const { proof: _none, ...unproven } = both;
    for (const o of [unproven, { ...both, powerOn: { wanted: true, requestedAt: 0, done: true } }])
      expect(wished('recovered', o)).toBe('operator');
  });

  it('is never answered by a command of another direction', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...IncidentPhases),
        fc.constantFrom<PowerOrder | undefined>(order, { ...order, action: 'soft' }, undefined),
        fc.boolean(),
        fc.array(fc.tuple(fc.constantFrom<PowerCommand['verb']>('on', 'off', 'soft'), fc.boolean()), { maxLength: 4 }),
        fc.array(fc.constantFrom('on' as const, 'off' as const, 'unknown' as const), { maxLength: 4 }),
        fc.nat(40_000),
        (phase, ordered, isOnWanted, given, reads, now) => {
          const i = anIncident('n', {
            phase,
            commands: given.map(([verb, ok], n) => command(n + 1, verb, ok)),
            proof: { kind: 'read-back', at: 0, level: 0 },
            ...(isOnWanted && { powerOn: { wanted: true, requestedAt: 0 } }),
            ...(ordered !== undefined && { order: ordered }),
          });
          const recheck = { atMs: now, go: true, reason: '', revision: 1, settings: 1, slow: 0 };
          const read = (power: 'on' | 'off' | 'unknown', n: number) => {
            const startedMs = n * 500;
            return { device: 'bmc', level: 0, power, startedMs, endedMs: startedMs + 50, at: 0 };
          };
          const unproven = { identified: {}, identities: [] };
          const seen = { sinceMs: 0, drivers: ['ipmitool'], revision: 1, recheck, quietSinceMs: 0, endedMs: {} };
          const memory = { ...seen, ...unproven, reads: reads.map(read), busy: [] };
          const step = nextPowerStep(powerOf(i), [[bmc]], memory, now);
          const wish = powerWish(i);
          expect(step.do === 'idle').toBe(wish === undefined);
          if (step.do !== 'command') return;
          for (const { verb } of step.commands) expect([wish?.verb, 'status']).toContain(verb);
        },
      ),
      { numRuns: runs(2_000) },
    );
  });
});
