import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { DeviceFacts, HardwareFacts, PowerIdentity } from '#contracts';
import { runs, SEED } from '#contracts/testing/chance.js';
import { comparedIdentity, identityIndex } from './device-identity.js';
import { guidOf, sameGuid } from './guid.js';

const g = (n: number): string => `00112233445566778899aabbccddee${n.toString(16).padStart(2, '0')}`;
const smbios = (hex: string): string =>
  `${hex.slice(6, 8)}${hex.slice(4, 6)}${hex.slice(2, 4)}${hex.slice(0, 2)}-${hex.slice(10, 12)}${hex.slice(8, 10)}-${hex.slice(14, 16)}${hex.slice(12, 14)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
const ipmi = (hex: string): string => (hex.match(/../g) ?? []).reverse().join('');
const own = (o: Omit<HardwareFacts, 'at'>): HardwareFacts => ({ ...o, at: 1 });

const compare = (
  seen: DeviceFacts,
  hardware: Omit<HardwareFacts, 'at'> | undefined,
  others: Record<string, Omit<HardwareFacts, 'at'>> = {},
  known?: PowerIdentity,
): PowerIdentity =>
  comparedIdentity({
    node: 'host2',
    own: hardware && own(hardware),
    index: identityIndex([
      ...(hardware === undefined ? [] : [{ name: 'host2', hardware: own(hardware) }]),
      ...Object.entries(others).map(([name, h]) => ({ name, hardware: own(h) })),
    ]),
    seen,
    known,
    basis: 'here',
    at: 9,
  });
const proven: PowerIdentity = { result: 'proven', by: 'guid', at: 5, seen: { guid: g(2) }, basis: 'here' };

describe(`the identity of a power device, MUSTER_SEED=${SEED}`, () => {
  it('that a drill or a contradiction found to be wrong stays so, whatever it says that proves nothing', () => {
    const wrong: PowerIdentity = { result: 'mismatch', at: 5, why: 'by a drill', basis: 'here' };
    expect(compare({ guid: g(2) }, { systemUuid: g(2) }, { host3: { systemUuid: g(2) } }, wrong)).toBe(wrong);
    expect(compare({}, { systemUuid: g(2) }, {}, wrong)).toBe(wrong);
    expect(compare({ guid: g(2) }, { systemUuid: g(2) }, {}, wrong)).toMatchObject({ result: 'proven', by: 'guid' });
  });

  it.each([
    ['rfc4122', g(2)],
    ['smbios', smbios(g(2))],
    ['ipmi', ipmi(g(2))],
  ])('is proven by a GUID that the machine says too, in %s', (_encoding, systemUuid) => {
    expect(compare({ guid: g(2) }, { systemUuid })).toMatchObject({ result: 'proven', by: 'guid', at: 9 });
  });

  it('is proven by a serial number of its board or chassis, also where the UUID of the system is another one', () => {
    expect(compare({ boardSerial: 'b2 ' }, { boardSerial: 'B2' })).toMatchObject({ result: 'proven', by: 'serial' });
    expect(compare({ guid: g(9), chassisSerial: 'C2' }, { systemUuid: g(2), chassisSerial: 'C2' })).toMatchObject({
      result: 'proven',
      by: 'serial',
    });
  });

  it('is a mismatch where both say the same kind of thing, and say it differently', () => {
    expect(compare({ guid: g(3) }, { systemUuid: g(2) })).toMatchObject({ result: 'mismatch' });
    expect(compare({ boardSerial: 'B3' }, { boardSerial: 'B2' })).toMatchObject({ result: 'mismatch' });
  });

  it("is a mismatch where it is another node's, which is named, also where this machine was never asked", () => {
    const others = { host3: { systemUuid: g(3) } };
    for (const hardware of [undefined, { systemUuid: g(2) }, { boardSerial: 'B2' }]) {
      const found = compare({ guid: g(3), boardSerial: 'B2' }, hardware, others);
      expect(found.result).toBe('mismatch');
      expect(found.why).toContain('host3');
    }
  });

  it("is a mismatch where the machine's own BMC has another GUID, whatever else agrees", () => {
    const found = compare({ guid: g(3), boardSerial: 'B2' }, { bmcGuid: g(2), systemUuid: g(3), boardSerial: 'B2' });
    expect(found.result).toBe('mismatch');
  });

  it.each([
    ['zeros', '0'.repeat(32), '00000000-0000-0000-0000-000000000000'],
    ['FF', 'f'.repeat(32), 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'],
    ['a repetition', '20'.repeat(16), '20202020-2020-2020-2020-202020202020'],
    ["a maker's filler", '03000200040005000006000700080009', '03000200-0400-0500-0006-000700080009'],
  ])('is neither proven nor contradicted by %s', (_what, guid, systemUuid) => {
    expect(compare({ guid }, { systemUuid }).result).toBe('unproven');
    expect(compare({ guid }, { systemUuid: g(2) }).result).toBe('unproven');
    expect(compare({ guid: g(2) }, { systemUuid }).result).toBe('unproven');
    expect(compare({ boardSerial: 'To be filled by O.E.M.' }, { boardSerial: 'Default string' }).result).toBe(
      'unproven',
    );
  });

  it('is not proven by what two machines say: a cloned GUID names none', () => {
    const found = compare({ guid: g(2) }, { systemUuid: g(2) }, { host3: { systemUuid: g(2) } });
    expect(found).toMatchObject({ result: 'unproven', why: expect.stringContaining('host3') });
    const bySerial = { guid: g(2), boardSerial: 'B2' };
    expect(compare(bySerial, { systemUuid: g(2), boardSerial: 'B2' }, { host3: { systemUuid: g(2) } })).toMatchObject({
      result: 'proven',
      by: 'serial',
    });
  });

  it('stays proven when another machine claims the same later, with the date of its proof', () => {
    expect(compare({ guid: g(2) }, { systemUuid: g(2) }, { host3: { systemUuid: g(2) } }, proven)).toEqual(proven);
    const drilled = { ...proven, by: 'drill' as const };
    expect(compare({ guid: g(2) }, undefined, { host3: { systemUuid: g(2) } }, drilled)).toEqual(drilled);
  });

  it('is the last one where nothing could be read', () => {
    const mismatch: PowerIdentity = { result: 'mismatch', at: 5, why: 'w', seen: { guid: g(3) }, basis: 'here' };
    expect(compare({}, { systemUuid: g(2) }, {}, proven)).toEqual(proven);
    expect(compare({}, undefined, {}, mismatch)).toEqual(mismatch);
    expect(compare({}, { systemUuid: g(2) }, {}, mismatch).result).toBe('mismatch');
    expect(compare({}, { systemUuid: g(2) })).toMatchObject({ result: 'unproven' });
  });

  it('is lost when another device answers in its place, also where the machine cannot be asked', () => {
    const drilled: PowerIdentity = { ...proven, by: 'drill' };
    expect(compare({ guid: g(3) }, undefined, {}, drilled)).toMatchObject({ result: 'mismatch' });
    expect(compare({ guid: g(3) }, { systemUuid: g(2) }, {}, proven)).toMatchObject({ result: 'mismatch' });
  });

  it('is proven again when the right device answers', () => {
    const mismatch: PowerIdentity = { result: 'mismatch', at: 5, why: 'w', seen: { guid: g(3) }, basis: 'here' };
    expect(compare({ guid: g(2) }, { systemUuid: g(2) }, {}, mismatch)).toMatchObject({ result: 'proven', at: 9 });
  });

  it('keeps what an administrator answers for as long as the same device answers', () => {
    const acknowledged = { by: 'ann', why: 'new board', at: 6 };
    const known: PowerIdentity = { result: 'mismatch', at: 5, seen: { guid: g(3) }, acknowledged, basis: 'here' };
    expect(compare({ guid: g(3) }, { systemUuid: g(2) }, {}, known)).toMatchObject({ acknowledged });
    expect(compare({ guid: g(4) }, { systemUuid: g(2) }, {}, known).acknowledged).toBeUndefined();
  });

  const hex = fc.stringMatching(/^[0-9a-f]{32}$/).filter((text) => guidOf(text) !== undefined);

  it('knows one GUID in every writing, and no other', () => {
    fc.assert(
      fc.property(hex, hex, (a, b) => {
        for (const written of [a, smbios(a), ipmi(a)]) expect(sameGuid(guidOf(written) ?? '', a)).toBe(true);
        expect(sameGuid(a, b)).toBe(sameGuid(b, a));
        if (a !== b && ![smbios(a).replaceAll('-', ''), ipmi(a)].includes(b) && sameGuid(a, b))
          expect(ipmi(smbios(a).replaceAll('-', '')) === b || smbios(ipmi(a)).replaceAll('-', '') === b).toBe(true);
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });

  const few = fc.option(fc.constantFrom(g(1), g(2), g(3), '0'.repeat(32)), { nil: undefined });
  const serials = fc.option(fc.constantFrom('S1', 'S2', 'none'), { nil: undefined });
  const facts = fc.record({ guid: few, boardSerial: serials, chassisSerial: serials });
  const machines = fc.record({ systemUuid: few, bmcGuid: few, boardSerial: serials, chassisSerial: serials });
  const told = <T extends object>(o: { [K in keyof T]?: T[K] | undefined }): T =>
    Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined)) as T;

  it('is never proven by a device that says nothing which the machine says', () => {
    fc.assert(
      fc.property(facts, machines, machines, (seen, mine, other) => {
        const found = compare(told<DeviceFacts>(seen), told(mine), { host3: told(other) });
        if (found.result !== 'proven') return;
        const guids = [mine.systemUuid, mine.bmcGuid].flatMap((x) => x ?? []);
        expect(
          (seen.guid !== undefined && guids.includes(seen.guid)) ||
            (seen.boardSerial !== undefined && seen.boardSerial === mine.boardSerial) ||
            (seen.chassisSerial !== undefined && seen.chassisSerial === mine.chassisSerial),
        ).toBe(true);
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  it("is not proven where its GUID is another node's and not the machine's own", () => {
    fc.assert(
      fc.property(facts, machines, machines, (seen, mine, other) => {
        if (guidOf(seen.guid) === undefined || [mine.systemUuid, mine.bmcGuid].includes(seen.guid)) return;
        if (![other.systemUuid, other.bmcGuid].includes(seen.guid)) return;
        expect(compare(told<DeviceFacts>(seen), told(mine), { host3: told(other) }).result).toBe('mismatch');
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });
});
