import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { identityBasis, type DeviceFacts, type NodeRecord, type PowerDevice, type PowerIdentity } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import {
  asksWho,
  denialsAfter,
  deviceOwner,
  guidIsEnough,
  IDENTITY_FRESH_MS,
  standsFor,
  type DeviceOwner,
  type Identified,
  type IdentityRead,
} from './whose-device.js';

const bmc: PowerDevice = { id: 'bmc', driver: 'ipmitool', address: '192.0.2.1' };
const g = (n: number): string => `00112233445566778899aabbccddee${n.toString(16).padStart(2, '0')}`;

const found = (o: Partial<PowerIdentity>): Pick<NodeRecord, 'powerIdentity'> => ({
  powerIdentity: { bmc: { result: 'proven', by: 'guid', at: 1, basis: identityBasis(bmc), ...o } },
});
const proven = found({ seen: { guid: g(1), boardSerial: 'B1' } });
const read = (startedMs: number, seen?: DeviceFacts, o: Partial<IdentityRead> = {}): IdentityRead => ({
  ...{ device: 'bmc', basis: identityBasis(bmc), startedMs, endedMs: startedMs + 100 },
  ...(seen === undefined ? { code: 'BMC_TIMEOUT', detail: 'no answer' } : { seen }),
  ...o,
});
const refused = (startedMs: number, code = 'BMC_REFUSED'): IdentityRead =>
  read(startedMs, undefined, { code, detail: 'the BMC refused it' });
const owner = (reads: readonly IdentityRead[], n: Identified = proven): DeviceOwner => deviceOwner(n, bmc, reads);

describe('whose a power device is', () => {
  it.each<[string, Pick<NodeRecord, 'powerIdentity'>]>([
    ['of which nothing is known', {}],
    ['that is unproven', found({ result: 'unproven', seen: { guid: g(1) } })],
    ['that was drilled and says nothing of itself', found({ by: 'drill' })],
    [
      'that says only what names no machine',
      found({ by: 'drill', seen: { guid: '0'.repeat(32), boardSerial: 'none' } }),
    ],
    ['that was proven in another place', found({ seen: { guid: g(1) }, basis: 'elsewhere' })],
    [
      'that an administrator answers for',
      found({ result: 'mismatch', seen: { guid: g(1) }, acknowledged: { by: 'ann', why: 'spare', at: 1 } }),
    ],
  ])('of one %s is not asked: there is nothing to compare with', (_what, n) => {
    expect(owner([], n)).toEqual({ is: 'unproven' });
    expect(standsFor(owner([], n), 1e9)).toBe(true);
    expect(asksWho({ ...n, powerLevels: [[bmc]] })).toBe(false);
    expect(guidIsEnough(n, bmc)).toBe(true);
  });

  it('of one that was proven by what it says is not known until it says so again', () => {
    expect(asksWho({ ...proven, powerLevels: [[{ ...bmc, id: 'pdu' }], [bmc]] })).toBe(true);
    expect(owner([])).toEqual({ is: 'unread' });
    const unread = read(10);
    expect(owner([read(5), unread])).toEqual({ is: 'unread', last: unread });
    expect(standsFor(owner([unread]), 10)).toBe(false);
    const nothing = read(10, {});
    expect(owner([nothing])).toEqual({ is: 'unread', last: nothing });
    expect(owner([read(10, { chassisSerial: 'C1' })])).toMatchObject({ is: 'unread' });
  });

  describe('that is not proven, of a machine that says who its BMC is', () => {
    const machine: Identified = { hardware: { at: 1, bmcGuid: g(1), boardSerial: 'B1' } };

    it.each<[string, Pick<NodeRecord, 'powerIdentity'>]>([
      ['it is new', {}],
      ['it has another address', found({ seen: { guid: g(1) }, basis: 'elsewhere' })],
      ['it is unproven', found({ result: 'unproven', seen: { guid: g(9) } })],
      ['a drill has proven it, and it says nothing', found({ by: 'drill' })],
    ])('is asked first where %s, and is another’s where it says so', (_what, identified) => {
      const n = { ...machine, ...identified };
      expect(asksWho({ ...n, powerLevels: [[bmc]] })).toBe(true);
      expect(owner([], n)).toEqual({ is: 'unsaid' });
      expect(standsFor(owner([], n), 0)).toBe(false);
      const of = owner([read(5), read(10, { guid: g(2) }), read(20)], n);
      expect(of).toMatchObject({ is: 'other', why: expect.stringContaining(g(2)) });
      expect(standsFor(of, 20)).toBe(false);
      // By a serial number alone nobody is denied, nor by the UUID of its system: it has not said who it is.
      for (const seen of [{ guid: '0'.repeat(32) }, { boardSerial: 'b1' }, { boardSerial: 'B2' }, {}]) {
        const said = read(10, seen);
        expect(owner([said], n)).toEqual({ is: 'unsaid', last: said });
        expect([10, 15_010, 15_011].map((at) => standsFor(owner([said], n), at))).toEqual([true, true, false]);
      }
    });

    it('is its own for 15 s after it said so, and no longer', () => {
      const said = owner([read(100, { guid: g(1) })], machine);
      expect(said).toMatchObject({ is: 'own', readsMs: [100] });
      expect([99, 100, 15_100, 15_101].map((at) => standsFor(said, at))).toEqual([false, true, true, false]);
      const refuses = owner([read(100, { guid: g(1) }), refused(15_101)], machine);
      expect(refuses).toMatchObject({ is: 'own', readsMs: [100], last: { startedMs: 15_101 } });
      expect(standsFor(refuses, 15_101)).toBe(false);
    });

    it('is another’s by the youngest word that can be compared, whatever it says after that', () => {
      const denies = read(10, { guid: g(2) });
      for (const seen of [{}, { guid: '0'.repeat(32) }, { boardSerial: 'B1' }])
        expect(owner([denies, read(20, seen)], machine)).toMatchObject({ is: 'other' });
      expect(owner([denies, read(20, { guid: g(1) })], machine)).toMatchObject({ is: 'own', readsMs: [20] });
      expect(owner([read(5, { guid: g(1) }), denies], machine)).toMatchObject({ is: 'other' });
    });

    it('may be used for 15 s after it was asked and did not say it, and not where nobody asked it', () => {
      for (const code of ['BMC_REFUSED', 'BMC_AUTH', 'BMC_CIPHER']) {
        const asked = owner([refused(100, code)], machine);
        expect(asked).toMatchObject({ is: 'unsaid', last: { startedMs: 100 } });
        expect([99, 15_100, 15_101].map((at) => standsFor(asked, at))).toEqual([true, true, false]);
      }
      for (const code of [
        ...['DRIVER_UNAVAILABLE', 'DEADLINE_PASSED', 'BUS_UNAVAILABLE', 'CONFIG_INVALID', 'NODE_BUSY'],
        // It was ended, or nothing has answered.
        ...['COMMAND_FAILED', 'BMC_TIMEOUT', 'INTERNAL'],
      ])
        expect(standsFor(owner([refused(100, code)], machine), 100)).toBe(false);
    });

    it('is not asked where an administrator answers for it, or the machine tells nothing', () => {
      const acknowledged = { by: 'ann', why: 'spare', at: 1 };
      const answered = { ...machine, ...found({ result: 'mismatch', seen: { guid: g(2) }, acknowledged }) };
      expect(owner([read(10, { guid: g(2) })], answered)).toEqual({ is: 'unproven' });
      for (const tells of [{ bmcGuid: '0'.repeat(32) }, { systemUuid: g(1), boardSerial: 'B1' }])
        expect(owner([read(10, { guid: g(2) })], { hardware: { at: 1, ...tells } })).toEqual({ is: 'unproven' });
    });
  });

  describe('that has said that it is another machine’s', () => {
    const machine: Identified = { hardware: { at: 1, bmcGuid: g(1) } };
    const denial = { basis: identityBasis(bmc), seen: { guid: g(2) }, at: 5 };
    const denied: Identified = { ...machine, denied: { bmc: denial } };

    it('is not used in a later attempt, where it refuses to say who it is, until it says that it is the node’s own', () => {
      expect(owner([], denied)).toEqual({ is: 'unread' });
      const asked = owner([refused(10)], denied);
      expect(asked).toEqual({ is: 'unread', last: refused(10) });
      expect(standsFor(asked, 10)).toBe(false);
      expect(standsFor(owner([read(10, {})], denied), 10)).toBe(false);
      expect(standsFor(owner([read(10, { guid: g(1) })], denied), 10)).toBe(true);
      expect(owner([read(10, { guid: g(2) })], denied)).toMatchObject({ is: 'other' });
    });

    it('nor where nothing is known any more to compare it with', () => {
      expect(owner([refused(10)], { denied: { bmc: denial } })).toMatchObject({ is: 'unread' });
      expect(asksWho({ denied: { bmc: denial }, powerLevels: [[bmc]] })).toBe(true);
    });

    it('is used where it was said of another place, a person answers for it, or it is the machine’s own by now', () => {
      const elsewhere = { ...machine, denied: { bmc: { ...denial, basis: 'elsewhere' } } };
      const board: Identified = { hardware: { at: 2, bmcGuid: g(2) }, denied: { bmc: denial } };
      for (const n of [elsewhere, board]) expect(standsFor(owner([refused(10)], n), 10)).toBe(true);
      const acknowledged = { by: 'ann', why: 'spare', at: 6 };
      const answered = { ...denied, ...found({ result: 'mismatch', seen: { guid: g(2) }, acknowledged }) };
      expect(owner([], answered)).toEqual({ is: 'unproven' });
    });

    // Inventory may have asked it before the fencer that it denied.
    it('is not its own by what another process has read', () => {
      const told = read(10, { guid: g(1) }, { byOther: true });
      expect(standsFor(owner([told], denied), 10)).toBe(false);
      expect(standsFor(owner([told], machine), 10)).toBe(true);
      expect(owner([read(10, { guid: g(2) }, { byOther: true })], denied)).toMatchObject({ is: 'other' });
    });

    const after = (n: Identified, ...reads: IdentityRead[]) => denialsAfter({ ...n, powerLevels: [[bmc]] }, reads, 7);

    it('is remembered by its youngest word that can be compared, and for as long as it says nothing else', () => {
      const now = { ...denial, at: 7 };
      expect(after(machine, read(10, { guid: g(2) }), refused(20), read(30, {}))).toEqual({ bmc: now });
      expect(after(proven, read(10, { guid: g(2) }))).toEqual({ bmc: now });
      expect(after(proven, read(10, { guid: g(2) }, { byOther: true }))).toEqual({ bmc: now });
      const others = { ...denied, denied: { bmc: denial, pdu: denial } };
      expect(after(others, read(10, { guid: g(1) }))).toEqual({ pdu: denial });
      expect(after(denied, read(10, { guid: g(3) }))).toEqual({ bmc: { ...now, seen: { guid: g(3) } } });
    });

    it('is remembered as it was where it says the same, refuses, or another process has read it', () => {
      expect(after(machine, refused(10), read(20, {}))).toBeUndefined();
      expect(after(machine, read(10, { guid: g(1) }))).toBeUndefined();
      expect(after(denied)).toBeUndefined();
      expect(after(denied, read(10, { guid: g(2) }), refused(20))).toBeUndefined();
      expect(after(denied, read(10, { guid: g(1) }, { byOther: true }))).toBeUndefined();
      expect(after(denied, read(10, { guid: g(1) }, { basis: 'elsewhere' }))).toBeUndefined();
    });
  });

  it('is known by any of what it said when it was proven, and by nothing that is said of another place', () => {
    expect(owner([read(10, { guid: g(1) })])).toMatchObject({ is: 'own', readsMs: [10] });
    expect(owner([read(10, { boardSerial: ' b1' })])).toMatchObject({ is: 'own' });
    expect(owner([read(10, { guid: g(1) }, { device: 'pdu' })])).toMatchObject({ is: 'unread' });
    expect(owner([read(10, { guid: g(1) }, { basis: 'elsewhere' })])).toMatchObject({ is: 'unread' });
  });

  it('is another’s where it says so, by the youngest word, whatever else it says', () => {
    expect(owner([read(20, { guid: g(2) }), read(10, { guid: g(1) })])).toMatchObject({ is: 'other' });
    expect(owner([read(20, { guid: g(1) }), read(10, { guid: g(2) })])).toMatchObject({ is: 'own', readsMs: [20] });
    expect(owner([read(10, { guid: g(1), boardSerial: 'B2' })])).toMatchObject({ is: 'other' });
    expect(standsFor(owner([read(10, { guid: g(2) })]), 10)).toBe(false);
    const wrong = found({ result: 'mismatch', why: 'it is that of host2' });
    expect(owner([read(10, { guid: g(1) })], wrong)).toEqual({ is: 'other', why: 'it is that of host2' });
  });

  it('of one that was proven by a drill, and says something, is known by that', () => {
    const drilled = found({ by: 'drill', seen: { boardSerial: 'B1' } });
    expect(owner([], drilled)).toEqual({ is: 'unread' });
    expect(owner([read(10, { boardSerial: 'B1' })], drilled)).toMatchObject({ is: 'own' });
    expect(guidIsEnough(drilled, bmc)).toBe(false);
    expect(guidIsEnough(proven, bmc)).toBe(true);
  });

  it('stands for 15 s from the asking, and for nothing before it', () => {
    const said = owner([read(100, { guid: g(1) }), read(20_000)]);
    expect([99, 100, 15_100, 15_101].map((at) => standsFor(said, at))).toEqual([false, true, true, false]);
    const again = owner([read(100, { guid: g(1) }), read(20_000, { guid: g(1) })]);
    expect([100, 19_999, 20_000, 35_001].map((at) => standsFor(again, at))).toEqual([true, false, true, false]);
  });

  const facts = fc.record(
    {
      guid: fc.constantFrom(g(1), g(2), '0'.repeat(32)),
      boardSerial: fc.constantFrom('B1', 'B2', 'none'),
      chassisSerial: fc.constantFrom('C1', ''),
    },
    { requiredKeys: [] },
  );
  const reading = fc.record({
    startedMs: fc.integer({ min: -20_000, max: 20_000 }),
    seen: fc.option(facts, { nil: undefined }),
    device: fc.constantFrom('bmc', 'bmc', 'bmc', 'pdu'),
  });

  it('is its node’s own at no time but within 15 s after it said what it had said before, and no other thing since', () => {
    fc.assert(
      fc.property(
        facts,
        fc.array(reading, { maxLength: 5 }),
        fc.integer({ min: -30_000, max: 40_000 }),
        (was, all, at) => {
          const n = found({ seen: was });
          const reads = all.map(({ startedMs, seen, device }) => read(startedMs, seen, { device }));
          const usable = (f: DeviceFacts): string[] =>
            Object.entries(f).flatMap(([k, v]) =>
              ['0'.repeat(32), 'none', ''].includes(String(v)) ? [] : [`${k} ${v}`],
            );
          const [before, kinds] = [usable(was), usable(was).map((x) => x.split(' ')[0])];
          if (before.length === 0) {
            expect(standsFor(owner(reads, n), at)).toBe(true);
            return;
          }
          const compared = reads
            .filter((r) => r.device === 'bmc' && r.seen !== undefined)
            .map((r) => ({
              at: r.startedMs,
              said: usable(r.seen ?? {}).filter((x) => kinds.includes(x.split(' ')[0])),
            }))
            .filter((r) => r.said.length > 0)
            .map((r) => ({ at: r.at, fits: r.said.every((x) => before.includes(x)) }));
          const youngest = Math.max(...compared.map((r) => r.at));
          // Of two that were asked at the same moment either may be the last.
          if (new Set(compared.map((r) => r.at)).size < compared.length) return;
          const isOwn = compared.some((r) => r.at === youngest && r.fits);
          const stands = isOwn && compared.some((r) => r.fits && r.at <= at && at - r.at <= IDENTITY_FRESH_MS);
          expect(standsFor(owner(reads, n), at)).toBe(stands);
        },
      ),
      { numRuns: runs(2000) },
    );
  });
});
