import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { MusterError, type PowerDevice } from '#contracts';
import { runs, SEED } from '#contracts/testing/chance.js';
import { checkPlaces, placeBook, placeConflicts } from './power-place.js';

const device = (o: Partial<PowerDevice> = {}): PowerDevice => ({
  id: 'bmc',
  driver: 'ipmitool',
  address: '10.2.0.1',
  ...o,
});
const node = (name: string, ...devices: PowerDevice[]): { name: string; powerLevels: PowerDevice[][] } => ({
  name,
  powerLevels: devices.map((d) => [d]),
});
const names: Record<string, string[]> = { 'bmc1.example': ['10.2.0.1'], 'bmc2.example': ['10.2.0.2', 'fd00::2'] };
const addressesOf = (name: string): string[] | undefined => names[name];

const refused = (d: PowerDevice, ...others: { name: string; powerLevels: PowerDevice[][] }[]): string | undefined => {
  try {
    checkPlaces('b-1', [[d]], placeBook(others, addressesOf));
    return undefined;
  } catch (e) {
    const error = MusterError.from(e);
    expect(error.code).toBe('ALREADY_EXISTS');
    return error.message;
  }
};

describe(`the place of a power device, MUSTER_SEED=${SEED}`, () => {
  it('belongs to one node: the refusal names the other and says what to do', () => {
    const message = refused(device(), node('a-1', device({ id: 'ilo' })));
    expect(message).toContain('10.2.0.1:623, where node a-1 has its power device ilo');
    expect(message).toMatch(/correct a-1 first, or declare both devices shared/);
  });

  it.each<[string, Partial<PowerDevice>]>([
    ['the usual port, written out', { port: 623 }],
    ['a name of the address', { address: 'bmc1.example' }],
    ['the same address in IPv6', { address: '::ffff:10.2.0.1' }],
    ['another user', { username: 'other' }],
    ['declared shared by one of the two only', { shared: true }],
  ])('is the same with %s', (_what, o) => {
    expect(refused(device(o), node('a-1', device()))).toBeDefined();
    expect(refused(device(), node('a-1', device(o)))).toBeDefined();
  });

  it('of a name without an address is the same under the same name', () => {
    const lost = { address: 'Nowhere.example' };
    expect(refused(device(lost), node('a-1', device({ address: 'nowhere.example' })))).toBeDefined();
  });

  it.each<[string, Partial<PowerDevice>, Partial<PowerDevice>]>([
    ['address', { address: '10.2.0.2' }, {}],
    ['port', { port: 9001 }, { port: 9002 }],
    ['driver', { driver: 'fence-agent:ipmilan', port: 623 }, {}],
    [
      'outlet',
      { driver: 'fence-agent:apc', options: { plug: '3' } },
      { driver: 'fence-agent:apc', options: { plug: '4' } },
    ],
    ['system', { options: { system: '/redfish/v1/Systems/1' } }, { options: { system: '/redfish/v1/Systems/2' } }],
    ['bridge target', { options: { target: '0x72' } }, { options: { target: '0x74' } }],
  ])('is another with another %s', (_what, a, b) => {
    expect(refused(device(a), node('a-1', device(b)))).toBeUndefined();
  });

  it('may be had by two nodes that both declare it shared, and by one node twice', () => {
    expect(refused(device({ shared: true }), node('a-1', device({ shared: true })))).toBeUndefined();
    expect(refused(device(), node('b-1', device({ id: 'other' })))).toBeUndefined();
  });

  it('is worth a second look where the same address stands under another port', () => {
    const book = placeBook([node('a-1', device({ port: 9001 })), node('c-1', device({ address: '10.2.0.9' }))]);
    expect(book.neighboursOf('b-1', device({ port: 9002 })).map((h) => h.node)).toEqual(['a-1']);
    expect(book.neighboursOf('a-1', device({ port: 9001 }))).toEqual([]);
  });

  const someDevice = fc.record(
    {
      id: fc.constantFrom('bmc', 'pdu'),
      driver: fc.constantFrom('ipmitool', 'fence-agent:apc'),
      address: fc.constantFrom('10.2.0.1', 'bmc1.example', '10.2.0.2', 'bmc2.example', 'fd00:0::2', 'unknown.example'),
      port: fc.constantFrom(623, 9001),
      shared: fc.boolean(),
      options: fc.constantFrom({ plug: '1' }, { plug: '2' }),
    },
    { requiredKeys: ['id', 'driver', 'address'] },
  );
  const fleets = fc
    .array(fc.array(someDevice, { maxLength: 3 }), { minLength: 1, maxLength: 5 })
    .map((all) => all.map((devices, i) => node(`n-${i}`, ...(devices as PowerDevice[]))));

  it('is in conflict for both or for neither, and never within one node', () => {
    fc.assert(
      fc.property(fleets, (fleet) => {
        const found = placeConflicts(fleet, addressesOf);
        for (const c of found) {
          expect(c.others).not.toContain(c.node);
          for (const other of c.others)
            expect(found.some((f) => f.node === other && f.others.includes(c.node))).toBe(true);
        }
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });

  it('lets nobody into a fleet, one after the other, who would conflict', () => {
    fc.assert(
      fc.property(fleets, (fleet) => {
        const taken: typeof fleet = [];
        for (const n of fleet)
          try {
            checkPlaces(n.name, n.powerLevels, placeBook(taken, addressesOf));
            taken.push(n);
          } catch (e) {
            expect(MusterError.from(e).code).toBe('ALREADY_EXISTS');
          }
        expect(placeConflicts(taken, addressesOf)).toEqual([]);
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });
});
