import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  identityBasis,
  IncidentPhases,
  POWER_QUARANTINE_MS,
  type IncidentRecord,
  type PowerCommand,
  type PowerDevice,
  type PowerOrder,
} from '#contracts';
import { isOrderDue } from '../incident/pending-order.js';
import { nextPowerStep, type PowerStep } from './next-step.js';
import type { PowerRead } from './power-read.js';
import { powerOf } from './power-wish.js';
import type { SwitchMemory } from './switch-step.js';
import { IDENTITY_FRESH_MS, type IdentityRead } from './whose-device.js';

const bmc: PowerDevice = { id: 'bmc', driver: 'ipmitool', address: '127.0.0.1' };
const pdu: PowerDevice = { ...bmc, id: 'pdu' };
const levels = [[bmc], [pdu]];
const command = (n: number, verb: PowerCommand['verb'], ok?: boolean): PowerCommand => ({
  ...{ n, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb, at: 0 },
  ...(ok === undefined ? {} : { endedAt: 1, result: { ok } }),
});
const on: PowerOrder = { action: 'on', by: 'eve', reason: 'memory', at: 1, after: 0 };
const soft: PowerOrder = { ...on, action: 'soft', bootId: 'boot-1' };
const incident = (order: PowerOrder, o: Partial<IncidentRecord> = {}): IncidentRecord => ({
  id: 'i',
  node: 'n',
  phase: 'closed',
  cause: 'manual',
  reason: '',
  openedAt: 0,
  updatedAt: 0,
  gates: [],
  conductor: 0,
  level: 0,
  attempt: 0,
  commands: [],
  recovery: [],
  steps: [],
  order,
  ...o,
});
const memory = (o: Partial<SwitchMemory> = {}): SwitchMemory => ({
  quietSinceMs: 0,
  reads: [],
  endedMs: {},
  busy: [],
  bootId: 'boot-1',
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
const decideOrder = (i: IncidentRecord, of: PowerDevice[][], m: SwitchMemory, now: number): PowerStep =>
  nextPowerStep(powerOf(i), of, { sinceMs: 0, drivers: [], revision: 1, ...m }, now);
const given = (verb: 'on' | 'soft' | 'status' | 'identify'): object => ({
  do: 'command',
  commands: [{ device: bmc, verb }],
});

describe("an operator's order to switch on", () => {
  it('reads first, and writes nothing where the power is on already', () => {
    expect(decideOrder(incident(on), levels, memory(), 0)).toMatchObject(given('status'));
    expect(decideOrder(incident(on), levels, memory({ reads: [read('on', 0)] }), 60)).toMatchObject({
      do: 'done',
      ok: true,
    });
    expect(decideOrder(incident(on), levels, memory({ reads: [read('off', 0)] }), 60)).toMatchObject(given('on'));
  });

  it('waits for the power quarantine after an off, on its own clock', () => {
    const i = incident(on, { phase: 'recovered', commands: [command(1, 'off', true)] });
    const m = memory({ quietSinceMs: 500, reads: [read('off', 0)] });
    expect(decideOrder(i, levels, m, POWER_QUARANTINE_MS + 499)).toEqual({
      do: 'wait',
      untilMs: POWER_QUARANTINE_MS + 500,
    });
    expect(decideOrder(i, levels, m, POWER_QUARANTINE_MS + 500)).toMatchObject(given('on'));
  });

  it('is over when the power reads as on after it, and given up after three tries', () => {
    const once = incident(on, { commands: [command(1, 'on', true)] });
    expect(decideOrder(once, levels, memory({ endedMs: { bmc: 100 }, reads: [read('on', 50)] }), 120)).toMatchObject(
      given('status'),
    );
    expect(decideOrder(once, levels, memory({ endedMs: { bmc: 100 }, reads: [read('on', 110)] }), 200)).toMatchObject({
      do: 'done',
      ok: true,
    });
    const thrice = incident(on, { commands: [1, 2, 3].map((n) => command(n, 'on', true)) });
    const m = memory({ endedMs: { bmc: 100 }, reads: [read('off', 11_000)] });
    expect(decideOrder(thrice, levels, m, 11_100)).toMatchObject({ do: 'done', ok: false });
  });

  it('does not switch what cannot be read', () => {
    const m = memory({ reads: [0, 1100, 2200].map((at) => read('unknown', at)) });
    expect(decideOrder(incident(on), levels, m, 2300)).toMatchObject({ do: 'done', ok: false });
  });

  it('counts only the commands that were given for it', () => {
    const i = incident({ ...on, after: 3 }, { commands: [1, 2, 3].map((n) => command(n, 'on', true)) });
    expect(decideOrder(i, levels, memory({ reads: [read('off', 0)] }), 60)).toMatchObject(given('on'));
  });
});

describe("an operator's order to shut down", () => {
  it('is given once, to one device, and proves nothing', () => {
    expect(decideOrder(incident(soft), levels, memory(), 0)).toMatchObject(given('soft'));
    const taken = incident(soft, { commands: [command(1, 'soft', true)] });
    expect(decideOrder(taken, levels, memory(), 10)).toMatchObject({ do: 'done', ok: true });
    expect(taken.proof).toBeUndefined();
    const refused = incident(soft, { commands: [1, 2, 3].map((n) => command(n, 'soft', false)) });
    expect(decideOrder(refused, levels, memory(), 10)).toMatchObject({ do: 'done', ok: false });
  });

  it('is void for a boot that it was not meant for', () => {
    expect(decideOrder(incident(soft), levels, memory({ bootId: 'boot-2' }), 0)).toMatchObject({
      do: 'done',
      ok: false,
      detail: expect.stringContaining('rebooted'),
    });
  });
});

const GUID = '00112233445566778899aabbccddee01';
const basis = identityBasis(bmc);
const proven: SwitchMemory['identified'] = {
  powerIdentity: { bmc: { result: 'proven', by: 'guid', at: 1, seen: { guid: GUID }, basis } },
};
const foreign: SwitchMemory['identified'] = {
  powerIdentity: { bmc: { result: 'mismatch', at: 1, why: 'it is that of n-2', basis } },
};
const said = (startedMs: number, guid?: string): IdentityRead => ({
  ...{ device: 'bmc', basis, startedMs, endedMs: startedMs + 100 },
  ...(guid === undefined ? { code: 'BMC_TIMEOUT', detail: 'no answer' } : { seen: { guid } }),
});

describe.each([
  ['to switch on', on, 'status'],
  ['to shut down', soft, 'soft'],
] as const)("an operator's order %s, by a device that was proven to be the node's own", (_what, order, first) => {
  const decide = (identities: IdentityRead[], now: number, o: Partial<SwitchMemory> = {}): PowerStep =>
    decideOrder(incident(order), levels, memory({ identified: proven, identities, ...o }), now);

  it('asks it who it is first, and again when that is 15 s ago', () => {
    expect(decide([], 0)).toMatchObject(given('identify'));
    expect(decide([said(0, GUID)], 110)).toMatchObject(given(first));
    expect(decide([said(0, GUID)], IDENTITY_FRESH_MS)).toMatchObject(given(first));
    expect(decide([said(0, GUID)], IDENTITY_FRESH_MS + 1)).toMatchObject(given('identify'));
    expect(decide([], 0, { busy: ['bmc'] }).do).toBe('wait');
  });

  it('gives nothing to one that is another, or known as one, and says by which command that is looked into', () => {
    const ended = { do: 'done', ok: false, detail: expect.stringMatching(/^IDENTITY_MISMATCH: bmc: .*test n\.$/) };
    expect(decide([said(0, `${GUID.slice(0, -1)}2`)], 110)).toMatchObject(ended);
    expect(decide([said(0, GUID)], 110, { identified: foreign })).toMatchObject(ended);
  });

  it('asks three times, 5 s apart, and gives up then', () => {
    const asked = [said(0)];
    expect(decide(asked, 110)).toEqual({ do: 'wait', untilMs: 5_100 });
    expect(decide(asked, 5_100)).toMatchObject(given('identify'));
    asked.push(said(5_100), said(10_300));
    expect(decide(asked, 10_400)).toMatchObject({
      do: 'done',
      ok: false,
      detail: expect.stringMatching(/^IDENTITY_UNREAD: bmc.*BMC_TIMEOUT: no answer.*test n\.$/),
    });
    // Of those after it last said so: nothing is held against it.
    expect(decide([said(-20_000), said(-19_000), said(-18_000, GUID), said(0)], 5_100)).toMatchObject(
      given('identify'),
    );
  });

  it('is asked nothing where nothing may be switched', () => {
    expect(decide([], 0, { hold: 'Fencing is paused.' })).toMatchObject({ do: 'done', detail: 'Fencing is paused.' });
  });
});

describe("an operator's order to switch on, by a device whose word counts", () => {
  it('takes for on only what was read when that was known', () => {
    const m = memory({ identified: proven, reads: [read('on', 0)] });
    expect(decideOrder(incident(on), levels, { ...m, identities: [said(100, GUID)] }, 300)).toMatchObject(
      given('status'),
    );
    expect(decideOrder(incident(on), levels, { ...m, identities: [said(-100, GUID)] }, 300)).toMatchObject({
      do: 'done',
      ok: true,
    });
  });

  it('undoes its own off, of a cycle or a drill, also where that has shown that it is another machine’s', () => {
    const AFTER_QUARANTINE_MS = POWER_QUARANTINE_MS + 1_000;
    const off = command(1, 'off', true);
    const m = memory({ identified: foreign, reads: [read('off', AFTER_QUARANTINE_MS - 100)] });
    const cycled = incident(on, { phase: 'recovered', commands: [off] });
    expect(decideOrder(cycled, levels, m, AFTER_QUARANTINE_MS)).toMatchObject(given('on'));
    // It was not proven, refused to say who it is, and says it now.
    const identities = [said(AFTER_QUARANTINE_MS - 200, `${GUID.slice(0, -1)}2`)];
    const told = { ...m, identified: { hardware: { at: 1, bmcGuid: GUID } }, identities };
    expect(decideOrder(cycled, levels, told, AFTER_QUARANTINE_MS)).toMatchObject(given('on'));
    expect(decideOrder(incident(on), levels, told, AFTER_QUARANTINE_MS)).toMatchObject({ do: 'done', ok: false });
    // Ordered since: by somebody who was to have looked.
    const later = incident({ ...on, after: 1 }, { phase: 'recovered', commands: [off] });
    expect(decideOrder(later, levels, m, AFTER_QUARANTINE_MS)).toMatchObject({ do: 'done', ok: false });
  });
});

describe('any order', () => {
  it('writes nothing in observe or while fencing is paused: it is given up, after what is under way has ended', () => {
    for (const order of [on, soft]) {
      const m = memory({ hold: 'Fencing is paused.', reads: [read('off', 0)] });
      expect(decideOrder(incident(order), levels, m, 60)).toEqual({
        do: 'done',
        ok: false,
        detail: 'Fencing is paused.',
      });
      expect(decideOrder(incident(order), levels, { ...m, busy: ['bmc'] }, 60)).toMatchObject({ do: 'wait' });
    }
  });

  it('waits until the power is no longer the business of the incident that it stands in', () => {
    const due = IncidentPhases.filter((phase) => isOrderDue(incident(on, { phase })));
    expect(due).toEqual(['recovered', 'closed', 'survived', 'cancelled']);
    expect(isOrderDue(incident({ ...on, done: true }))).toBe(false);
  });

  it('never orders off, and never a device that is busy', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(on, soft),
        fc.array(fc.constantFrom<PowerRead['power']>('on', 'off', 'unknown'), { maxLength: 6 }),
        fc.array(fc.boolean(), { maxLength: 4 }),
        fc.nat(40_000),
        (order, reads, results, now) => {
          const commands = results.map((ok, n) => command(n + 1, order.action, ok));
          const m = memory({ reads: reads.map((p, n) => read(p, n * 1000)), busy: ['bmc'] });
          const step = decideOrder(incident(order, { commands }), levels, m, now);
          if (step.do === 'command') expect(step.commands).toEqual([]);
          const free = decideOrder(incident(order, { commands }), levels, { ...m, busy: [] }, now);
          if (free.do === 'command') expect(free.commands.every((c) => (c.verb as string) !== 'off')).toBe(true);
        },
      ),
    );
  });
});
