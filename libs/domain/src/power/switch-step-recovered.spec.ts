import { describe, expect, it } from 'vitest';
import {
  identityBasis,
  POWER_QUARANTINE_MS,
  type IncidentRecord,
  type PowerCommand,
  type PowerDevice,
} from '#contracts';
import { nextPowerStep, type PowerStep } from './next-step.js';
import type { PowerRead } from './power-read.js';
import { powerOf } from './power-wish.js';
import { offMark } from './quarantine.js';
import type { SwitchMemory } from './switch-step.js';

const bmc: PowerDevice = { id: 'bmc', driver: 'ipmitool', address: '127.0.0.1' };
const pdu: PowerDevice = { ...bmc, id: 'pdu' };
const off: PowerCommand = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off', at: 0 };
const on = (n: number, ok?: boolean): PowerCommand => ({
  ...off,
  n,
  verb: 'on',
  ...(ok === undefined ? {} : { endedAt: 1, result: { ok } }),
});
const incident = (commands: PowerCommand[], phase: IncidentRecord['phase'] = 'recovered'): IncidentRecord => ({
  id: 'i',
  node: 'n',
  phase,
  cause: 'auto',
  reason: '',
  openedAt: 0,
  updatedAt: 0,
  gates: [],
  conductor: 1,
  level: 0,
  attempt: 0,
  commands,
  proof: { kind: 'read-back', at: 0, level: 0 },
  recovery: [],
  powerOn: { wanted: true, requestedAt: 0 },
  steps: [],
});
const memory = (o: Partial<SwitchMemory> = {}): SwitchMemory => ({
  quietSinceMs: 0,
  reads: [],
  endedMs: {},
  busy: [],
  identified: {},
  identities: [],
  ...o,
});
const read = (power: PowerRead['power'], at: number): PowerRead => ({
  device: 'bmc',
  level: 0,
  power,
  startedMs: at,
  endedMs: at + 50,
  at,
});
const decidePowerOn = (i: IncidentRecord, of: PowerDevice[][], m: SwitchMemory, now: number): PowerStep =>
  nextPowerStep(powerOf(i), of, { sinceMs: 0, drivers: [], revision: 1, ...m }, now);
const levels = [[bmc], [pdu]];

describe('power-on, decided', () => {
  it('waits for the power quarantine on its own clock, from when it saw the last off as it stands', () => {
    expect(decidePowerOn(incident([off]), levels, memory({ quietSinceMs: 500 }), POWER_QUARANTINE_MS + 499)).toEqual({
      do: 'wait',
      untilMs: POWER_QUARANTINE_MS + 500,
    });
    expect(decidePowerOn(incident([off]), levels, memory(), POWER_QUARANTINE_MS)).toMatchObject({
      do: 'command',
      commands: [{ device: bmc, verb: 'on' }],
    });
  });

  it('begins its quarantine anew with the end of the off', () => {
    expect(offMark({ id: 'i', commands: [off] })).not.toBe(offMark({ id: 'i', commands: [{ ...off, endedAt: 5 }] }));
  });

  it('does nothing that is not wanted, not recovered, not proven off, or done', () => {
    const idle = { do: 'idle' };
    const { proof: _p, ...unproven } = incident([off]);
    const { powerOn: _w, ...unwanted } = incident([off]);
    expect(decidePowerOn(unproven, levels, memory(), POWER_QUARANTINE_MS)).toEqual(idle);
    expect(decidePowerOn(unwanted, levels, memory(), POWER_QUARANTINE_MS)).toEqual(idle);
    for (const phase of ['fenced', 'failed', 'closed'] as const)
      expect(decidePowerOn(incident([off], phase), levels, memory(), POWER_QUARANTINE_MS)).toEqual(idle);
    const done = { ...incident([off]), powerOn: { wanted: true, requestedAt: 0, done: true } };
    expect(decidePowerOn(done, levels, memory(), POWER_QUARANTINE_MS)).toEqual(idle);
  });

  it('switches on what was switched off, else the level that was found off', () => {
    expect(
      decidePowerOn(incident([{ ...off, device: 'pdu', level: 1 }]), levels, memory(), POWER_QUARANTINE_MS),
    ).toMatchObject({
      commands: [{ device: pdu }],
    });
    expect(decidePowerOn(incident([]), levels, memory(), POWER_QUARANTINE_MS)).toMatchObject({
      commands: [{ device: bmc }],
    });
  });

  it('is done when the power reads as on; orders again what was not taken, three times at most', () => {
    const ended = memory({ endedMs: { bmc: POWER_QUARANTINE_MS }, reads: [read('on', POWER_QUARANTINE_MS + 10)] });
    expect(decidePowerOn(incident([off, on(2, true)]), levels, ended, POWER_QUARANTINE_MS + 100)).toMatchObject({
      do: 'done',
      ok: true,
    });
    const stillOff = memory({ endedMs: { bmc: POWER_QUARANTINE_MS }, reads: [read('off', POWER_QUARANTINE_MS + 10)] });
    expect(decidePowerOn(incident([off, on(2, true)]), levels, stillOff, POWER_QUARANTINE_MS + 100).do).toBe('wait');
    expect(decidePowerOn(incident([off, on(2, false)]), levels, stillOff, POWER_QUARANTINE_MS + 100)).toMatchObject({
      do: 'command',
      commands: [{ verb: 'on' }],
    });
    const thrice = incident([off, on(2, false), on(3, false), on(4, false)]);
    expect(decidePowerOn(thrice, levels, stillOff, POWER_QUARANTINE_MS + 100)).toMatchObject({ do: 'done', ok: false });
  });

  it('orders nothing on while it is held, also not again, but reads what was ordered before', () => {
    const hold = 'paused';
    expect(decidePowerOn(incident([off]), levels, memory({ hold }), POWER_QUARANTINE_MS).do).toBe('wait');
    expect(decidePowerOn(incident([off, on(2)]), levels, memory({ hold }), POWER_QUARANTINE_MS)).toMatchObject({
      commands: [{ verb: 'status' }],
    });
    const stillOff = memory({
      hold,
      endedMs: { bmc: POWER_QUARANTINE_MS },
      reads: [read('off', POWER_QUARANTINE_MS + 10)],
    });
    expect(decidePowerOn(incident([off, on(2, false)]), levels, stillOff, POWER_QUARANTINE_MS + 100).do).toBe('wait');
  });

  it('asks a device that was proven to be its own who it is, once the quarantine is over and nothing holds it', () => {
    const seen = { guid: '00112233445566778899aabbccddee01' };
    const basis = identityBasis(bmc);
    const identified = {
      powerIdentity: { bmc: { result: 'proven' as const, by: 'guid' as const, at: 1, seen, basis } },
    };
    const m = memory({ identified });
    expect(decidePowerOn(incident([off]), levels, m, POWER_QUARANTINE_MS - 1).do).toBe('wait');
    expect(decidePowerOn(incident([off]), levels, { ...m, hold: 'paused' }, POWER_QUARANTINE_MS).do).toBe('wait');
    expect(decidePowerOn(incident([off]), levels, m, POWER_QUARANTINE_MS)).toMatchObject({
      commands: [{ verb: 'identify' }],
    });
    const identities = [
      { device: 'bmc', basis, seen, startedMs: POWER_QUARANTINE_MS, endedMs: POWER_QUARANTINE_MS + 100 },
    ];
    expect(decidePowerOn(incident([off]), levels, { ...m, identities }, POWER_QUARANTINE_MS + 110)).toMatchObject({
      commands: [{ verb: 'on' }],
    });
    // What was ordered before is read on while it is held, and counts only by a device that has said who it is.
    const given = incident([off, on(2, true)]);
    const held = {
      ...m,
      hold: 'paused',
      endedMs: { bmc: POWER_QUARANTINE_MS },
      reads: [read('on', POWER_QUARANTINE_MS + 10)],
    };
    expect(decidePowerOn(given, levels, held, POWER_QUARANTINE_MS + 100)).toMatchObject({
      commands: [{ verb: 'identify' }],
    });
    expect(decidePowerOn(given, levels, { ...held, identities }, POWER_QUARANTINE_MS + 200)).toMatchObject({
      do: 'done',
      ok: true,
    });
    const other = [{ ...identities[0]!, seen: { guid: '00112233445566778899aabbccddee02' } }];
    expect(
      decidePowerOn(incident([off]), levels, { ...m, identities: other }, POWER_QUARANTINE_MS + 110),
    ).toMatchObject({
      do: 'done',
      ok: false,
      detail: expect.stringMatching(/^IDENTITY_MISMATCH: bmc/),
    });
  });

  it('reads first what another leader had ordered on', () => {
    expect(decidePowerOn(incident([off, on(2)]), levels, memory(), POWER_QUARANTINE_MS)).toMatchObject({
      do: 'command',
      commands: [{ verb: 'status' }],
    });
  });
});
