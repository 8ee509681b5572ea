import { describe, expect, it } from 'vitest';
import { POWER_QUARANTINE_MS, type IncidentRecord, type PowerCommand, type PowerDevice } from '#contracts';
import { nextPowerStep, type PowerStep } from './next-step.js';
import type { PowerRead } from './power-read.js';
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
  nextPowerStep(i, of, { sinceMs: 0, drivers: [], revision: 1, identified: {}, identities: [], ...m }, now);
const levels = [[bmc], [pdu]];
const W = POWER_QUARANTINE_MS;

describe('power-on, decided', () => {
  it('waits for W on its own clock, from when it saw the last off as it stands', () => {
    expect(decidePowerOn(incident([off]), levels, memory({ quietSinceMs: 500 }), W + 499)).toEqual({
      do: 'wait',
      untilMs: W + 500,
    });
    expect(decidePowerOn(incident([off]), levels, memory(), W)).toMatchObject({
      do: 'command',
      commands: [{ device: bmc, verb: 'on' }],
    });
  });

  it('W begins anew with the end of the off', () => {
    expect(offMark({ id: 'i', commands: [off] })).not.toBe(offMark({ id: 'i', commands: [{ ...off, endedAt: 5 }] }));
  });

  it('does nothing that is not wanted, not recovered, not proven off, or done', () => {
    const idle = { do: 'idle' };
    const { proof: _p, ...unproven } = incident([off]);
    const { powerOn: _w, ...unwanted } = incident([off]);
    expect(decidePowerOn(unproven, levels, memory(), W)).toEqual(idle);
    expect(decidePowerOn(unwanted, levels, memory(), W)).toEqual(idle);
    for (const phase of ['fenced', 'failed', 'closed'] as const)
      expect(decidePowerOn(incident([off], phase), levels, memory(), W)).toEqual(idle);
    const done = { ...incident([off]), powerOn: { wanted: true, requestedAt: 0, done: true } };
    expect(decidePowerOn(done, levels, memory(), W)).toEqual(idle);
  });

  it('switches on what was switched off, else the level that was found off', () => {
    expect(decidePowerOn(incident([{ ...off, device: 'pdu', level: 1 }]), levels, memory(), W)).toMatchObject({
      commands: [{ device: pdu }],
    });
    expect(decidePowerOn(incident([]), levels, memory(), W)).toMatchObject({ commands: [{ device: bmc }] });
  });

  it('is done when the power reads as on; orders again what was not taken, three times at most', () => {
    const ended = memory({ endedMs: { bmc: W }, reads: [read('on', W + 10)] });
    expect(decidePowerOn(incident([off, on(2, true)]), levels, ended, W + 100)).toMatchObject({ do: 'done', ok: true });
    const stillOff = memory({ endedMs: { bmc: W }, reads: [read('off', W + 10)] });
    expect(decidePowerOn(incident([off, on(2, true)]), levels, stillOff, W + 100).do).toBe('wait');
    expect(decidePowerOn(incident([off, on(2, false)]), levels, stillOff, W + 100)).toMatchObject({
      do: 'command',
      commands: [{ verb: 'on' }],
    });
    const thrice = incident([off, on(2, false), on(3, false), on(4, false)]);
    expect(decidePowerOn(thrice, levels, stillOff, W + 100)).toMatchObject({ do: 'done', ok: false });
  });

  it('orders nothing on while it is held, also not again, but reads what was ordered before', () => {
    const hold = 'paused';
    expect(decidePowerOn(incident([off]), levels, memory({ hold }), W).do).toBe('wait');
    expect(decidePowerOn(incident([off, on(2)]), levels, memory({ hold }), W)).toMatchObject({
      commands: [{ verb: 'status' }],
    });
    const stillOff = memory({ hold, endedMs: { bmc: W }, reads: [read('off', W + 10)] });
    expect(decidePowerOn(incident([off, on(2, false)]), levels, stillOff, W + 100).do).toBe('wait');
  });

  it('reads first what another leader had ordered on', () => {
    expect(decidePowerOn(incident([off, on(2)]), levels, memory(), W)).toMatchObject({
      do: 'command',
      commands: [{ verb: 'status' }],
    });
  });
});
