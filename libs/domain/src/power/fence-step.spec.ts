import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  devicesMark,
  FencingNumbers,
  identityBasis,
  type DeviceFacts,
  type ErrorCode,
  type IncidentRecord,
  type NodeRecord,
  type PowerCommand,
  type PowerDevice,
} from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { decideFence as decide, type FenceMemory, type FenceStep } from './fence-step.js';
import type { RecheckAnswer } from './recheck-answer.js';
import type { PowerRead } from './power-read.js';
import { IDENTITY_FRESH_MS, type IdentityRead } from './whose-device.js';

type Power = 'on' | 'off' | 'unknown';
/** By a record's order to fence, and its log. */
const decideFence = (
  i: Pick<IncidentRecord, 'level' | 'attempt' | 'commands' | 'devices' | 'devicesAfter'>,
  levels: PowerDevice[][],
  m: FenceMemory,
  now: number,
): FenceStep => decide({ verb: 'off', orderer: 'incident', ...i }, i, levels, m, now);
const device = (id: string): PowerDevice => ({ id, driver: 'ipmitool', address: '127.0.0.1' });
const anAnswer = (o: Partial<RecheckAnswer>): RecheckAnswer => ({
  atMs: 0,
  go: true,
  reason: 'spec',
  revision: 1,
  settings: 1,
  slow: 0,
  ...o,
});

/** What a device does with what it is asked; `true*` is its real power. */
interface Behaviour {
  /** Answer to the nth read, given the real power. */
  read: (n: number, real: 'on' | 'off') => { power: Power; code?: ErrorCode; takesMs: number };
  /** Answer to the nth off, and how long after it ended the power is really off; undefined: it stays as it is. */
  off: (n: number) => { ok: boolean; code?: ErrorCode; takesMs: number; offAfterMs?: number };
  /** What it says of itself, asked for the nth time; absent: its own GUID, at once. */
  who?: (n: number) => { seen?: DeviceFacts; code?: ErrorCode; takesMs: number };
  /** At the beginning. */
  real?: 'on' | 'off';
}

interface Outcome {
  end: Exclude<FenceStep['do'], 'command' | 'wait' | 'recheck' | 'next-level'> | 'endless';
  step?: FenceStep;
  atMs: number;
  offs: Record<string, number>;
  levels: number;
  reallyOff: boolean;
  commands: PowerCommand[];
  reads: PowerRead[];
  /** Those that were given too. */
  identities: IdentityRead[];
  endedMs: Record<string, number>;
  code: string;
}

/** Plays an incident in virtual time, with commands that take time, as the leader does. */
function play(
  levels: PowerDevice[][],
  world: Record<string, Behaviour>,
  o: {
    commands?: PowerCommand[];
    recheck?: (n: number) => boolean;
    drivers?: string[];
    identified?: FenceMemory['identified'];
    /** Read before it began. */
    identities?: IdentityRead[];
    /** An `on` of before: until when it may be carried out, and when it is. */
    on?: { untilMs: number; landsMs?: number };
  } = {},
): Outcome {
  let now = 0;
  let rechecks = 0;
  const incident: Pick<IncidentRecord, 'level' | 'attempt' | 'commands'> = {
    level: 0,
    attempt: 0,
    commands: [...(o.commands ?? [])],
  };
  const m: FenceMemory = {
    sinceMs: 0,
    reads: [],
    endedMs: {},
    busy: [],
    drivers: o.drivers ?? ['ipmitool'],
    revision: 1,
    identified: o.identified ?? {},
    identities: [],
    ...(o.on && { onUntilMs: o.on.untilMs }),
  };
  const real: Record<string, 'on' | 'off'> = {};
  const identities = [...(o.identities ?? [])];
  m.identities = identities;
  const asked: Record<string, { reads: number; offs: number; whos: number }> = {};
  for (const d of levels.flat()) {
    real[d.id] = world[d.id]?.real ?? 'on';
    asked[d.id] = { reads: 0, offs: 0, whos: 0 };
  }
  let pending: { at: number; run: () => void }[] = [];
  if (o.on?.landsMs !== undefined)
    pending.push({ at: o.on.landsMs, run: () => levels.flat().forEach((d) => (real[d.id] = 'on')) });
  const outcome = (end: Outcome['end'], step?: FenceStep): Outcome => ({
    end,
    ...(step === undefined ? {} : { step }),
    atMs: now,
    offs: Object.fromEntries(Object.entries(asked).map(([id, a]) => [id, a.offs])),
    levels: incident.level + 1,
    reallyOff: (levels[incident.level] ?? []).every((d) => real[d.id] === 'off'),
    commands: incident.commands,
    reads: m.reads,
    identities,
    endedMs: m.endedMs,
    code: step !== undefined && 'detail' in step ? step.detail : '',
  });
  const advance = (to: number): void => {
    now = to;
    const due = pending.filter((p) => p.at <= now).sort((a, b) => a.at - b.at);
    pending = pending.filter((p) => p.at > now);
    for (const p of due) p.run();
  };
  for (let steps = 0; steps < 2000; steps++) {
    const step = decideFence(incident, levels, m, now);
    if (step.do === 'fenced' || step.do === 'failed') return outcome(step.do, step);
    if (step.do === 'next-level') incident.level = step.level;
    else if (step.do === 'recheck') {
      advance(now + 10);
      m.recheck = anAnswer({ atMs: now, go: o.recheck?.(rechecks++) ?? true });
    } else if (step.do === 'wait') {
      const next = Math.min(step.untilMs, ...pending.map((p) => p.at));
      advance(Math.max(next, now + 0.001));
    } else
      for (const c of step.commands) {
        const id = c.device.id;
        const behaviour = world[id];
        const count = asked[id];
        if (behaviour === undefined || count === undefined || m.busy.includes(id))
          throw new Error(`bad command to ${id}`);
        m.busy = [...m.busy, id];
        const startedMs = now;
        const done = (takesMs: number, run: () => void): void => {
          const endedMs = now + Math.min(takesMs, c.limitMs);
          pending.push({
            at: endedMs,
            run: () => {
              m.busy = m.busy.filter((b) => b !== id);
              run();
            },
          });
        };
        if (c.verb === 'status') {
          const a = behaviour.read(count.reads++, real[id] ?? 'on');
          const late = a.takesMs > c.limitMs;
          done(a.takesMs, () => {
            const code = late ? 'BMC_TIMEOUT' : a.code;
            m.reads.push({
              device: id,
              level: incident.level,
              power: late ? 'unknown' : a.power,
              ...(code === undefined ? {} : { code }),
              startedMs,
              endedMs: now,
              at: now,
            });
          });
        } else if (c.verb === 'identify') {
          const a = (behaviour.who ?? saysGuid)(count.whos++);
          const late = a.takesMs > c.limitMs;
          done(a.takesMs, () => {
            const { seen, code } = late ? { seen: undefined, code: 'BMC_TIMEOUT' as const } : a;
            identities.push({
              ...{ device: id, basis: identityBasis(c.device), startedMs, endedMs: now },
              ...(seen !== undefined && { seen }),
              ...(code !== undefined && { code }),
            });
          });
        } else {
          const a = behaviour.off(count.offs++);
          const late = a.takesMs > c.limitMs;
          const n = incident.commands.length + 1;
          const command: PowerCommand = {
            n,
            epoch: 1,
            fencer: 'f',
            attempt: 0,
            level: incident.level,
            device: id,
            verb: 'off',
            at: now,
          };
          incident.commands = [...incident.commands, command];
          done(a.takesMs, () => {
            m.endedMs[id] = now;
            const code = late ? 'BMC_TIMEOUT' : a.code;
            const result = { ok: a.ok && !late, ...(code === undefined ? {} : { code }) };
            incident.commands = incident.commands.map((x) => (x.n === n ? { ...x, endedAt: now, result } : x));
            if (a.offAfterMs === 0) real[id] = 'off';
            else if (a.offAfterMs !== undefined)
              pending.push({ at: now + a.offAfterMs, run: () => (real[id] = 'off') });
          });
        }
      }
  }
  return outcome('endless');
}

const GUID = '00112233445566778899aabbccddee01';
const OTHER = '00112233445566778899aabbccddee02';
type Who = NonNullable<Behaviour['who']>;
const saysGuid: Who = () => ({ seen: { guid: GUID }, takesMs: 60 });
/** All of them, by their GUID. */
const proven = (...ids: string[]): Pick<NodeRecord, 'powerIdentity'> => ({
  powerIdentity: Object.fromEntries(
    ids.map((id) => [
      id,
      { result: 'proven', by: 'guid', at: 1, seen: { guid: GUID }, basis: identityBasis(device(id)) },
    ]),
  ),
});
const wasRead = (startedMs: number, guid = GUID): IdentityRead => ({
  ...{ device: 'bmc', basis: identityBasis(device('bmc')), seen: { guid }, startedMs, endedMs: startedMs },
});

const honest = (n: number, real: 'on' | 'off') => ({ power: real, takesMs: 50, n });
const obedient: Behaviour = { read: honest, off: () => ({ ok: true, takesMs: 80, offAfterMs: 0 }) };
const refusing = (code: ErrorCode, takesMs = 30): Behaviour => ({
  read: () => ({ power: 'unknown', code, takesMs }),
  off: () => ({ ok: false, code, takesMs }),
});

describe('fencing, decided', () => {
  it('a node that is on: one off, two off-reads, fenced within a second', () => {
    const o = play([[device('bmc')]], { bmc: obedient });
    expect(o).toMatchObject({ end: 'fenced', offs: { bmc: 1 }, step: { proof: { kind: 'read-back', level: 0 } } });
    expect(o.atMs).toBeLessThan(1000);
    expect(o.reads.map((r) => r.power)).toEqual(['on', 'off', 'off']);
  });

  it('a node that is off already: no off, two reads 2 s apart', () => {
    const o = play([[device('bmc')]], { bmc: { ...obedient, real: 'off' } });
    expect(o).toMatchObject({ end: 'fenced', offs: { bmc: 0 }, step: { proof: { kind: 'already-off' } } });
    expect(o.atMs).toBeGreaterThanOrEqual(2000);
  });

  it('off while an `on` may still be carried out: a real off at once, and the proof when that time is over', () => {
    const o = play([[device('bmc')]], { bmc: { ...obedient, real: 'off' } }, { on: { untilMs: 16_000 } });
    expect(o).toMatchObject({ end: 'fenced', offs: { bmc: 1 }, step: { proof: { kind: 'read-back' } } });
    expect(o.commands[0]?.at).toBeLessThan(200);
    expect(o.atMs).toBeGreaterThanOrEqual(16_000);
    expect(o.atMs).toBeLessThan(16_700);
  });

  it('an `on` that is carried out after the off: it is ordered off again', () => {
    const on = { untilMs: 16_000, landsMs: 9_000 };
    const o = play([[device('bmc')]], { bmc: { ...obedient, real: 'off' } }, { on });
    expect(o).toMatchObject({ end: 'fenced', offs: { bmc: 2 }, reallyOff: true });
  });

  it('has all the time of its levels after an `on` of before', () => {
    const o = play(
      [[device('bmc')], [device('pdu')]],
      { bmc: refusing('BMC_TIMEOUT', 60_000), pdu: obedient },
      {
        on: { untilMs: 16_000 },
      },
    );
    expect(o).toMatchObject({ end: 'fenced', levels: 2 });
  });

  it('reads off, then on: what seemed off already is ordered off', () => {
    const answers: Power[] = ['off', 'on'];
    const o = play([[device('bmc')]], {
      bmc: { ...obedient, read: (n, real) => ({ power: answers[n] ?? real, takesMs: 50 }) },
    });
    expect(o).toMatchObject({ end: 'fenced', offs: { bmc: 1 } });
  });

  it('accepts off and stays on: failed, one off, never fenced', () => {
    const o = play([[device('bmc')]], { bmc: { ...obedient, off: () => ({ ok: true, takesMs: 80 }) } });
    expect(o).toMatchObject({ end: 'failed', offs: { bmc: 1 } });
    expect(o.atMs).toBe(FencingNumbers.allLevels);
    expect(o.code).toContain('power on');
  });

  it('a power that cannot be read is not off', () => {
    const o = play([[device('bmc')]], {
      bmc: { ...obedient, read: () => ({ power: 'unknown', code: 'BMC_REFUSED', takesMs: 50 }) },
    });
    expect(o.end).toBe('failed');
  });

  it('off errors but the power is off: fenced', () => {
    const o = play([[device('bmc')]], {
      bmc: { ...obedient, off: () => ({ ok: false, code: 'BMC_REFUSED', takesMs: 80, offAfterMs: 0 }) },
    });
    expect(o).toMatchObject({ end: 'fenced', offs: { bmc: 1 } });
  });

  it('an off that takes 8 s: fenced after 8 s, not before, with one off', () => {
    const o = play([[device('bmc')]], {
      bmc: { ...obedient, off: () => ({ ok: true, takesMs: 80, offAfterMs: 8000 }) },
    });
    expect(o).toMatchObject({ end: 'fenced', offs: { bmc: 1 } });
    expect(o.atMs).toBeGreaterThan(8000);
    expect(o.atMs).toBeLessThan(9000);
  });

  it('reads off, on, off, off after the order: fenced at the last', () => {
    const answers: Power[] = ['on', 'off', 'on', 'off', 'off'];
    const o = play([[device('bmc')]], {
      bmc: { ...obedient, read: (n) => ({ power: answers[n] ?? 'off', takesMs: 50 }) },
    });
    expect(o.end).toBe('fenced');
    expect(o.reads.map((r) => r.power)).toEqual(answers);
  });

  it('a silent BMC: the first level ends within 12 s, the second is used', () => {
    const o = play([[device('bmc')], [device('pdu')]], { bmc: refusing('BMC_TIMEOUT', 60_000), pdu: obedient });
    expect(o).toMatchObject({ end: 'fenced', levels: 2, step: { proof: { level: 1 } } });
    expect(o.atMs).toBeLessThan(13_000);
  });

  it('no level works: failed within 20 s', () => {
    const silent = refusing('BMC_TIMEOUT', 60_000);
    const o = play([[device('bmc')], [device('pdu')]], { bmc: silent, pdu: silent });
    expect(o.end).toBe('failed');
    expect(o.atMs).toBeLessThanOrEqual(20_000);
  });

  it('a wrong password is named, and given up at once', () => {
    const o = play([[device('bmc')]], { bmc: refusing('BMC_AUTH') });
    expect(o.end).toBe('failed');
    expect(o.code).toContain('BMC_AUTH');
    expect(o.atMs).toBeLessThan(1500);
  });

  it('a BMC that needs 3 s for an answer is fenced within its level', () => {
    const slow = { ...obedient, read: (_: number, real: 'on' | 'off') => ({ power: real, takesMs: 3000 }) };
    const o = play([[device('bmc')]], { bmc: { ...slow, off: () => ({ ok: true, takesMs: 3000, offAfterMs: 0 }) } });
    expect(o.end).toBe('fenced');
    expect(o.atMs).toBeLessThan(13_000);
  });

  it('two devices in a level: both must be off', () => {
    const two = [[device('psu1'), device('psu2')]];
    expect(play(two, { psu1: obedient, psu2: obedient })).toMatchObject({ end: 'fenced', offs: { psu1: 1, psu2: 1 } });
    const stuck = { ...obedient, off: () => ({ ok: true, takesMs: 80 }) };
    expect(play(two, { psu1: obedient, psu2: stuck }).end).toBe('failed');
    expect(play(two, { psu1: stuck, psu2: { ...obedient, real: 'off' } }).end).toBe('failed');
  });

  it('a driver that is not offered here is named', () => {
    const o = play([[device('bmc')]], { bmc: obedient }, { drivers: [] });
    expect(o.end).toBe('failed');
    expect(o.code).toContain('DRIVER_UNAVAILABLE');
  });

  it('writes no intent while its driver cannot be started, and says what it lacked', () => {
    const never = play([[device('bmc')]], { bmc: refusing('DRIVER_UNAVAILABLE', 1) });
    expect(never).toMatchObject({ end: 'failed', offs: { bmc: 0 }, step: { lacking: ['ipmitool'] } });
    const later: Behaviour['read'] = (n, real) =>
      n < 3 ? { power: 'unknown', code: 'DRIVER_UNAVAILABLE', takesMs: 1 } : honest(n, real);
    expect(play([[device('bmc')]], { bmc: { ...obedient, read: later } })).toMatchObject({ end: 'fenced' });
    expect(play([[device('bmc')]], { bmc: refusing('BMC_TIMEOUT') }).step).toMatchObject({ lacking: [] });
  });

  it('an old answer to the recheck is not enough for an off: the verdict is asked for again right before', () => {
    const on: PowerRead = { device: 'bmc', level: 0, power: 'on', startedMs: 2_800, endedMs: 2_900, at: 0 };
    const with_ = (atMs: number, more: Partial<RecheckAnswer> = {}): FenceMemory => ({
      sinceMs: 0,
      reads: [on],
      endedMs: {},
      busy: [],
      drivers: ['ipmitool'],
      revision: 7,
      ...{ identified: {}, identities: [] },
      recheck: anAnswer({ atMs, revision: 7, ...more }),
    });
    const incident = { level: 0, attempt: 0, commands: [] };
    const step = (m: FenceMemory) => decideFence(incident, [[device('bmc')]], m, 3_000);
    expect(step(with_(2_450))).toEqual({ do: 'recheck' });
    // It was given for the record as it stood before: whoever wrote since may have cancelled it.
    expect(step(with_(2_850, { revision: 6 }))).toEqual({ do: 'recheck' });
    expect(step(with_(2_950, { revision: 6 }))).toEqual({ do: 'wait', untilMs: 3_050 });
    // Of an inventory that is slow each time the answers count all the same; one slow answer is asked for again.
    expect(step(with_(2_200, { slow: 1 }))).toEqual({ do: 'recheck' });
    expect(step(with_(2_200, { slow: 2 }))).toMatchObject({ do: 'command' });
    expect(step(with_(900, { slow: 2 }))).toEqual({ do: 'recheck' });
    expect(step(with_(2_550))).toMatchObject({
      do: 'command',
      commands: [{ verb: 'off' }],
    });
  });

  it('gives no off while inventory says no, and asks again', () => {
    const never = play([[device('bmc')]], { bmc: obedient }, { recheck: () => false });
    expect(never).toMatchObject({ end: 'failed', offs: { bmc: 0 } });
    expect(play([[device('bmc')]], { bmc: obedient }, { recheck: (n) => n > 2 })).toMatchObject({ end: 'fenced' });
  });

  it('takes over an order whose owner was lost: reads first, orders again only where the power is on', () => {
    const lost: PowerCommand = { n: 1, epoch: 1, fencer: 'x', attempt: 0, level: 0, device: 'bmc', verb: 'off', at: 0 };
    const done = play([[device('bmc')]], { bmc: { ...obedient, real: 'off' } }, { commands: [lost] });
    expect(done).toMatchObject({ end: 'fenced', offs: { bmc: 0 }, step: { proof: { kind: 'read-back' } } });
    expect(done.atMs).toBeLessThan(1000);
    expect(play([[device('bmc')]], { bmc: obedient }, { commands: [lost] })).toMatchObject({
      end: 'fenced',
      offs: { bmc: 1 },
    });
    // One that was accepted is not repeated.
    const accepted = { ...lost, endedAt: 1, result: { ok: true } };
    const late = {
      ...obedient,
      read: (n: number) => ({ power: n < 5 ? ('on' as const) : ('off' as const), takesMs: 50 }),
    };
    expect(play([[device('bmc')]], { bmc: late }, { commands: [accepted] })).toMatchObject({
      end: 'fenced',
      offs: { bmc: 0 },
    });
  });

  const answer = fc.record({
    lies: fc.constantFrom<'truth' | 'unknown' | 'late'>('truth', 'truth', 'truth', 'unknown', 'late'),
    code: fc.constantFrom<ErrorCode>('BMC_TIMEOUT', 'BMC_AUTH', 'BMC_REFUSED', 'BMC_CIPHER'),
    takesMs: fc.integer({ min: 1, max: 7000 }),
    ok: fc.boolean(),
    offAfterMs: fc.option(fc.integer({ min: 0, max: 9000 }), { nil: undefined }),
  });
  const behaviour = fc.record({
    real: fc.constantFrom<'on' | 'off'>('on', 'on', 'on', 'off'),
    answers: fc.array(answer, { minLength: 1, maxLength: 12 }),
  });

  it('is never fenced without its proof, nor while a device is on; ends in time; orders off at most three times', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(behaviour, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
        fc.array(fc.boolean(), { maxLength: 4 }),
        (shape, rechecks) => {
          const world: Record<string, Behaviour> = {};
          const levels = shape.map((level, l) =>
            level.map((b, n) => {
              const id = `d${l}${n}`;
              const at = (k: number) => b.answers[k % b.answers.length] ?? b.answers[0];
              world[id] = {
                real: b.real,
                read: (k, real) => {
                  const a = at(k);
                  if (a === undefined || a.lies === 'late')
                    return { power: 'unknown', code: 'BMC_TIMEOUT', takesMs: 60_000 };
                  const truth = a.lies === 'truth';
                  return { power: truth ? real : 'unknown', ...(truth ? {} : { code: a.code }), takesMs: a.takesMs };
                },
                off: (k) => {
                  const a = at(k);
                  if (a === undefined) return { ok: false, takesMs: 1 };
                  return {
                    ok: a.ok,
                    takesMs: a.takesMs,
                    ...(a.ok ? {} : { code: a.code }),
                    ...(a.offAfterMs === undefined ? {} : { offAfterMs: a.offAfterMs }),
                  };
                },
              };
              return device(id);
            }),
          );
          const o = play(levels, world, { recheck: (n) => rechecks[n] ?? true });
          expect(['fenced', 'failed']).toContain(o.end);
          // Up to the crumbs that the play's clock adds where a wait is already over.
          expect(o.atMs).toBeLessThanOrEqual(FencingNumbers.allLevels + 1);
          for (const level of [0, 1, 2])
            for (const d of levels[level] ?? [])
              expect(o.commands.filter((c) => c.device === d.id).length).toBeLessThanOrEqual(3);
          if (o.end !== 'fenced') return;
          // A read may take long: what it says was so when it was asked; devices that are off stay off here.
          expect(o.reallyOff).toBe(true);
          const last = levels[o.levels - 1] ?? [];
          const offsEnded = Math.max(-Infinity, ...last.map((d) => o.endedMs[d.id] ?? -Infinity));
          for (const d of last) {
            const reads = o.reads.filter((r) => r.device === d.id).slice(-2);
            const gap = o.commands.some((c) => c.device === d.id)
              ? FencingNumbers.readGap
              : FencingNumbers.readGapAlreadyOff;
            expect(reads.map((r) => r.power)).toEqual(['off', 'off']);
            expect(Math.min(...reads.map((r) => r.startedMs))).toBeGreaterThanOrEqual(offsEnded);
            const run = o.reads.filter((r) => r.device === d.id && r.startedMs >= offsEnded);
            const row = run.slice(run.findLastIndex((r) => r.power !== 'off') + 1);
            expect((row.at(-1)?.startedMs ?? 0) - (row[0]?.endedMs ?? 0)).toBeGreaterThanOrEqual(gap);
          }
        },
      ),
      { numRuns: runs(3000) },
    );
  });

  it('waits twice as long after each attempt in vain, up to five minutes', () => {
    const m = { ...{ sinceMs: 0, revision: 1, reads: [], endedMs: {}, busy: [] }, identified: {}, identities: [] };
    const waitS = (attempt: number): number | undefined => {
      const step = decideFence({ level: 0, attempt, commands: [] }, [], { ...m, drivers: [] }, 0);
      return step.do === 'failed' ? step.retryInMs / 1_000 : undefined;
    };
    expect([0, 1, 2, 3, 4, 5, 2_000].map(waitS)).toEqual([10, 20, 40, 80, 160, 300, 300]);
  });
});

describe('power devices that were edited under the order', () => {
  const levels = [[device('bmc')]];
  const edited = [[{ ...device('bmc'), address: '10.0.0.9' }]];
  const off: PowerCommand = { n: 4, epoch: 1, fencer: 'f', attempt: 0, level: 0, device: 'bmc', verb: 'off', at: 1 };
  const read = (startedMs: number): PowerRead => ({
    ...{ device: 'bmc', level: 0, power: 'off' as const, startedMs, endedMs: startedMs + 10, at: 1 },
  });
  const memory = (o: Partial<FenceMemory> = {}): FenceMemory => ({
    ...{ sinceMs: 0, revision: 1, reads: [], endedMs: {}, busy: [], drivers: ['ipmitool'] },
    ...{ identified: {}, identities: [] },
    recheck: { atMs: 0, go: true, reason: '', revision: 1, settings: 1, slow: 0 },
    ...o,
  });
  const order = { level: 0, attempt: 0, commands: [off], devices: devicesMark(levels) };

  it('are not given anything, and what the others said proves nothing of them', () => {
    const m = memory({ reads: [read(0), read(2_500)] });
    expect(decideFence(order, levels, m, 2_600).do).toBe('fenced');
    expect(decideFence(order, edited, m, 2_600)).toMatchObject({ do: 'failed', retryInMs: 0 });
    expect(decideFence(order, edited, { ...m, busy: ['bmc'] }, 2_600).do).toBe('wait');
    expect(decideFence(order, [[{ ...device('bmc'), secret: 'power=a=bmc=2' }]], m, 2_600).do).toBe('failed');
  });

  it('are given nothing, and prove nothing, while their options are sealed', () => {
    const sealed = [[{ ...device('bmc'), options: { passwd: 'muster-sealed:1:a.b.c' } }]];
    const shut = { do: 'failed', detail: expect.stringMatching(/^CONFIG_INVALID: .*bmc.*keys\.secrets/) as unknown };
    const m = memory({ reads: [read(0), read(2_500)] });
    for (const devices of [devicesMark(levels), devicesMark(sealed)])
      expect(decideFence({ ...order, devices }, sealed, m, 2_600)).toMatchObject({ ...shut, retryInMs: 10_000 });
    const { devices: _none, ...unmarked } = order;
    expect(decideFence(unmarked, sealed, m, 2_600)).toMatchObject(shut);
    expect(decideFence(order, sealed, { ...m, busy: ['bmc'] }, 2_600).do).toBe('wait');
  });

  it('are read as long apart as any that were never ordered off, and get an off of their own', () => {
    const again = { ...order, attempt: 1, devices: devicesMark(edited), devicesAfter: off.n };
    const soon = memory({ reads: [read(0), read(300)] });
    expect(decideFence(again, edited, soon, 400)).toMatchObject({ do: 'wait', untilMs: 10 + 2_000 });
    expect(decideFence({ ...again, devicesAfter: 0 }, edited, soon, 400).do).toBe('fenced');
    const done = memory({ reads: [read(0), read(2_100)] });
    expect(decideFence(again, edited, done, 2_200)).toMatchObject({ do: 'fenced', proof: { kind: 'already-off' } });
  });
});

describe('a device that was proven to be its node’s own', () => {
  const nameless =
    (code: ErrorCode): Who =>
    () => ({ code, takesMs: 30 });
  const sentOf = (o: Outcome): string[] => o.commands.map((c) => c.verb);

  it('is asked who it is first, and switched off then; with a word of a moment ago it is not asked again', () => {
    const asked = play([[device('bmc')]], { bmc: obedient }, { identified: proven('bmc') });
    expect(asked).toMatchObject({ end: 'fenced', offs: { bmc: 1 }, identities: [{ startedMs: 10 }] });
    expect(asked.reads.map((r) => r.power)).toEqual(['on', 'off', 'off']);
    expect(asked.atMs).toBeLessThan(1000);
    const told = { identified: proven('bmc'), identities: [wasRead(-2_000)] };
    const spared = play([[device('bmc')]], { bmc: obedient }, told);
    expect(spared).toMatchObject({
      end: 'fenced',
      offs: { bmc: 1 },
      atMs: play([[device('bmc')]], { bmc: obedient }).atMs,
    });
    expect(spared.identities).toEqual(told.identities);
    const old = play([[device('bmc')]], { bmc: obedient }, { ...told, identities: [wasRead(-IDENTITY_FRESH_MS)] });
    expect(old).toMatchObject({ end: 'fenced', identities: { length: 2 } });
  });

  it.each<[string, Who, string]>([
    ['refuses to say who it is', nameless('BMC_REFUSED'), 'BMC_REFUSED'],
    ['says nothing of itself any more', () => ({ seen: {}, takesMs: 30 }), 'nothing that can be compared'],
    ['takes too long to say it', () => ({ seen: { guid: GUID }, takesMs: 60_000 }), 'BMC_TIMEOUT'],
  ])('that %s is given nothing, whatever its power, and the level fails by that in its time', (_what, who, why) => {
    for (const real of ['on', 'off'] as const) {
      const o = play([[device('bmc')]], { bmc: { ...obedient, real, who } }, { identified: proven('bmc') });
      expect(o).toMatchObject({ end: 'failed', offs: { bmc: 0 }, commands: [] });
      expect(o.code).toMatch(new RegExp(`^No level is left: IDENTITY_UNREAD: bmc.*${why}.*power ${real}`));
      expect(o.atMs).toBe(FencingNumbers.allLevels);
    }
  });

  it('that does not say who it is is asked once a second, and switched off when it does', () => {
    const who: Who = (n) => (n < 4 ? { code: 'BMC_REFUSED', takesMs: 30 } : saysGuid(n));
    const o = play([[device('bmc')]], { bmc: { ...obedient, who } }, { identified: proven('bmc') });
    expect(o).toMatchObject({ end: 'fenced', offs: { bmc: 1 }, identities: { length: 5 } });
    expect(o.atMs).toBeGreaterThan(4_000);
    expect(o.atMs).toBeLessThan(6_000);
  });

  it('that does not say who it is leaves it to the next level; one without an identity is used as ever', () => {
    const world = { bmc: { ...obedient, who: nameless('BMC_REFUSED') }, pdu: obedient };
    const o = play([[device('bmc')], [device('pdu')]], world, { identified: proven('bmc') });
    expect(o).toMatchObject({ end: 'fenced', levels: 2, offs: { bmc: 0, pdu: 1 } });
    expect(o.identities.every((r) => r.device === 'bmc')).toBe(true);
    // In one level with it, the other may be off, and that is no proof.
    const both = play([[device('bmc'), device('pdu')]], world, { identified: proven('bmc') });
    expect(both).toMatchObject({ end: 'failed', offs: { bmc: 0 } });
  });

  it('that says it is another is given nothing, and is given up at once', () => {
    for (const real of ['on', 'off'] as const) {
      const world = { bmc: { ...obedient, real, who: () => ({ seen: { guid: OTHER }, takesMs: 30 }) } };
      const o = play([[device('bmc')]], world, { identified: proven('bmc') });
      expect(o).toMatchObject({ end: 'failed', offs: { bmc: 0 } });
      expect(o.code).toMatch(/^No level is left: IDENTITY_MISMATCH: bmc: another device/);
      expect(o.atMs).toBeLessThan(500);
    }
    const before = play(
      [[device('bmc')]],
      { bmc: { ...obedient, real: 'off' } },
      {
        identified: proven('bmc'),
        identities: [wasRead(-1_000, OTHER)],
      },
    );
    expect(before).toMatchObject({ end: 'failed', offs: { bmc: 0 }, reads: [] });
  });

  it('or not, is not switched off where it says that it is another machine’s; one that refuses to say it is', () => {
    const identified = { hardware: { at: 1, bmcGuid: GUID } };
    const says =
      (guid: string): Who =>
      () => ({ seen: { guid }, takesMs: 30 });
    const of = (who: Who): Outcome => play([[device('bmc')]], { bmc: { ...obedient, who } }, { identified });
    expect(of(says(OTHER))).toMatchObject({ end: 'failed', offs: { bmc: 0 } });
    expect(of(says(OTHER)).code).toMatch(/^No level is left: IDENTITY_MISMATCH: bmc: the machine's own BMC has GUID/);
    for (const who of [says(GUID), nameless('BMC_REFUSED'), () => ({ seen: {}, takesMs: 30 })])
      expect(of(who)).toMatchObject({ end: 'fenced', offs: { bmc: 1 }, identities: { length: 1 } });
    expect(of(nameless('DRIVER_UNAVAILABLE'))).toMatchObject({ end: 'failed', offs: { bmc: 0 } });
  });

  it('whose password is refused is given up at once', () => {
    const o = play(
      [[device('bmc')]],
      { bmc: { ...refusing('BMC_AUTH'), who: nameless('BMC_AUTH') } },
      { identified: proven('bmc') },
    );
    expect(o).toMatchObject({ end: 'failed', offs: { bmc: 0 } });
    expect(o.code).toContain('BMC_AUTH');
    expect(o.atMs).toBeLessThan(1500);
  });

  it('proves nothing by what it said before it was known, and is known in the time until the second read', () => {
    const late: Who = (n) => (n < 3 ? { code: 'BMC_REFUSED', takesMs: 30 } : saysGuid(n));
    const o = play([[device('bmc')]], { bmc: { ...obedient, real: 'off', who: late } }, { identified: proven('bmc') });
    const knownMs = o.identities.at(-1)?.startedMs ?? 0;
    expect(o).toMatchObject({ end: 'fenced', offs: { bmc: 0 }, step: { proof: { kind: 'already-off' } } });
    expect(o.atMs).toBeGreaterThanOrEqual(knownMs + FencingNumbers.readGapAlreadyOff);
  });

  it('whose off was given by a leader that is lost proves nothing to the next one before it has said who it is', () => {
    const lost: PowerCommand = { n: 1, epoch: 1, fencer: 'x', attempt: 0, level: 0, device: 'bmc', verb: 'off', at: 0 };
    const off: Behaviour = { ...obedient, real: 'off' };
    const o = { commands: [lost], identified: proven('bmc') };
    expect(play([[device('bmc')]], { bmc: off }, o)).toMatchObject({ end: 'fenced', identities: { length: 1 } });
    const unread = play([[device('bmc')]], { bmc: { ...off, who: nameless('BMC_REFUSED') } }, o);
    expect(unread).toMatchObject({ end: 'failed', offs: { bmc: 0 } });
  });

  it('is given its off again only while it is known', () => {
    const refuses: Behaviour['off'] = () => ({ ok: false, code: 'BMC_REFUSED', takesMs: 6_000 });
    const world = { bmc: { ...obedient, off: refuses, who: nameless('BMC_REFUSED') } };
    const o = play([[device('bmc')]], world, { identified: proven('bmc'), identities: [wasRead(-6_000)] });
    expect(o).toMatchObject({ end: 'failed', offs: { bmc: 2 } });
    expect(o.code).toContain('IDENTITY_UNREAD');
    expect(sentOf(o)).toEqual(['off', 'off']);
  });

  it('a BMC that needs 3 s for an answer is fenced in its level, also where nobody has asked it before', () => {
    const slow: Behaviour = {
      read: (_n, real) => ({ power: real, takesMs: 3000 }),
      off: () => ({ ok: true, takesMs: 3000, offAfterMs: 0 }),
      who: () => ({ seen: { guid: GUID }, takesMs: 3000 }),
    };
    expect(play([[device('bmc')]], { bmc: slow }, { identified: proven('bmc') }).atMs).toBeLessThan(16_000);
    const told = { identified: proven('bmc'), identities: [wasRead(-2_000)] };
    expect(play([[device('bmc')]], { bmc: slow }, told)).toMatchObject({ end: 'fenced', identities: { length: 1 } });
    expect(play([[device('bmc')]], { bmc: slow }, told).atMs).toBeLessThan(13_000);
  });

  const slowBmc = (takesMs: number, o: Partial<Behaviour> = {}): Behaviour => ({
    read: (_n, real) => ({ power: real, takesMs }),
    off: () => ({ ok: true, takesMs, offAfterMs: 0 }),
    who: () => ({ seen: { guid: GUID }, takesMs }),
    ...o,
  });

  it.each([
    // Its word is older than 15 s when the off is read back, and is asked for again.
    [5_000, [[device('bmc')]], 2],
    [3_000, [[device('bmc')], [device('pdu')]], 1],
  ])(
    'a BMC that needs %d ms for each command is proven off in its level, which the asking prolongs',
    (takesMs, levels, asked) => {
      const o = play(levels, { bmc: slowBmc(takesMs), pdu: obedient }, { identified: proven('bmc') });
      expect(o).toMatchObject({ end: 'fenced', levels: 1, offs: { bmc: 1 }, identities: { length: asked } });
      expect(o.reads.map((r) => r.power)).toEqual(['on', 'off', 'off']);
    },
  );

  it('prolongs its level by no more than two commands, and the next level has its own time all the same', () => {
    const stuck = { off: () => ({ ok: true, takesMs: 5_500 }) };
    const most = 2 * FencingNumbers.commandLimit;
    const alone = play([[device('bmc')]], { bmc: slowBmc(5_500, stuck) }, { identified: proven('bmc') });
    expect(alone).toMatchObject({ end: 'failed', identities: { length: 2 }, atMs: FencingNumbers.allLevels + most });
    const late = { ...obedient, off: () => ({ ok: true, takesMs: 80, offAfterMs: 7_000 }) };
    const levels = [[device('bmc')], [device('pdu')]];
    const two = play(levels, { bmc: slowBmc(5_500, stuck), pdu: late }, { identified: proven('bmc') });
    expect(two).toMatchObject({ end: 'fenced', levels: 2, offs: { pdu: 1 } });
    expect(two.atMs).toBeGreaterThan(FencingNumbers.firstLevel + 7_000);
    expect(two.atMs).toBeLessThan(FencingNumbers.allLevels + most);
  });

  it('prolongs nothing where it is quick, does not say who it is, or was asked before', () => {
    const stuck = { off: () => ({ ok: true, takesMs: 80 }) };
    const identified = proven('bmc');
    const quick = play([[device('bmc')]], { bmc: { ...obedient, ...stuck } }, { identified });
    expect(quick.end).toBe('failed');
    expect(quick.atMs).toBeLessThan(FencingNumbers.allLevels + 200);
    const who: Who = () => ({ seen: {}, takesMs: 5_000 });
    const silent = play([[device('bmc')]], { bmc: { ...obedient, who } }, { identified });
    expect(silent).toMatchObject({ end: 'failed', atMs: FencingNumbers.allLevels });
    const told = { identified, identities: [wasRead(-1_000)] };
    const spared = play([[device('bmc')]], { bmc: slowBmc(3_300) }, told);
    expect(spared).toMatchObject({ end: 'fenced', identities: { length: 1 } });
    expect(spared.atMs).toBeLessThan(FencingNumbers.allLevels);
  });

  // Several devices of a level are asked at once: that takes as long as the slowest.
  it('prolongs a level of two devices as one', () => {
    const stuck = { off: () => ({ ok: true, takesMs: 80 }), who: slowBmc(2_000).who! };
    const world = { bmc: { ...obedient, ...stuck }, psu: { ...obedient, ...stuck } };
    const o = play([[device('bmc'), device('psu')]], world, { identified: proven('bmc', 'psu') });
    expect(o.end).toBe('failed');
    // Each is asked twice, as its word has aged.
    expect(o.atMs).toBeLessThanOrEqual(FencingNumbers.allLevels + 1.2 * 2 * 2_000);
    expect(o.atMs).toBeGreaterThan(FencingNumbers.allLevels + 2_000);
  });

  const answer = fc.record({
    says: fc.constantFrom<'own' | 'other' | 'nothing' | 'refuses'>('own', 'own', 'own', 'other', 'nothing', 'refuses'),
    takesMs: fc.integer({ min: 1, max: 7_000 }),
  });

  it('is given no off, and proves nothing, but within 15 s after it said that it is its own and nothing else since', () => {
    fc.assert(
      fc.property(
        fc.array(answer, { minLength: 1, maxLength: 6 }),
        fc.array(fc.record({ agoMs: fc.integer({ min: 0, max: 40_000 }), isOwn: fc.boolean() }), { maxLength: 2 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 5_000 }),
        fc.boolean(),
        (answers, before, isOn, takesMs, isTaken) => {
          const who: Who = (n) => {
            const a = answers[n % answers.length] ?? { says: 'refuses', takesMs: 1 };
            const guid = { own: GUID, other: OTHER, nothing: undefined, refuses: undefined }[a.says];
            if (a.says === 'refuses') return { code: 'BMC_REFUSED', takesMs: a.takesMs };
            return { seen: guid === undefined ? {} : { guid }, takesMs: a.takesMs };
          };
          const bmc: Behaviour = {
            real: isOn ? 'on' : 'off',
            who,
            read: (_n, real) => ({ power: real, takesMs }),
            off: () => ({ ok: isTaken, takesMs, offAfterMs: 0 }),
          };
          const o = play(
            [[device('bmc')]],
            { bmc },
            {
              identified: proven('bmc'),
              identities: before.map(({ agoMs, isOwn }) => wasRead(-agoMs, isOwn ? GUID : OTHER)),
            },
          );
          const own = (atMs: number): boolean => {
            const told = o.identities.filter((r) => r.endedMs <= atMs && r.seen?.guid !== undefined);
            const youngest = told.toSorted((a, b) => a.startedMs - b.startedMs).at(-1);
            const fresh = told.some(
              (r) => r.seen?.guid === GUID && r.startedMs <= atMs && atMs - r.startedMs <= IDENTITY_FRESH_MS,
            );
            return youngest?.seen?.guid === GUID && fresh;
          };
          for (const c of o.commands) expect(own(c.at)).toBe(true);
          if (o.end !== 'fenced') return;
          for (const r of o.reads.slice(-2)) {
            expect(r.power).toBe('off');
            expect(own(r.startedMs)).toBe(true);
          }
        },
      ),
      { numRuns: runs(3000) },
    );
  });
});
