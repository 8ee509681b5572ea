import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { runs } from '#contracts/testing/chance.js';
import { standsBack, type Me, type Waiting } from './stand-back.js';

const waits = (label: string, ...drivers: string[]): Waiting => ({
  node: { name: `${label}-s1`, label, networks: {} },
  drivers: drivers.length === 0 ? ['ipmitool'] : drivers,
});
const a = waits('a');
const b = waits('b');
const me = (works: readonly string[] = ['ipmitool'], host = 'a.example.org'): Me => ({
  id: 'f1',
  host: { name: host, addresses: [] },
  works: (driver) => works.includes(driver),
});
const fencer = (id: string, host: string, drivers = ['ipmitool'], failing: string[] = []) => ({
  service: 'fencer' as const,
  id,
  host,
  drivers,
  failing,
});
const self = fencer('f1', 'a.example.org');

describe('a fencer whose own host waits', () => {
  it('stands back where another can fence it, and not otherwise', () => {
    const both = [self, fencer('f2', 'b.example.org')];
    expect(standsBack(me(), [a], both)).toBe(true);
    expect(standsBack(me(), [b], both)).toBe(false);
    expect(standsBack(me(), [], both)).toBe(false);
    expect(standsBack(me(), [a], [self, fencer('f2', 'a')])).toBe(false);
    expect(standsBack(me(), [a], [self, fencer('f2', 'b', [])])).toBe(false);
    expect(standsBack(me(), [a], [{ ...fencer('p1', 'c'), service: 'provisioner' }])).toBe(false);
  });

  it('does not stand back for one that runs on that host, too, by another name', () => {
    const node = { ...a, node: { ...a.node, networks: { management: { address: '10.0.0.1' } } } };
    const other = { ...fencer('f2', 'ip-10-0-0-1'), addresses: ['10.0.0.1'] };
    expect(standsBack(me(), [node], [self, { ...other, addresses: ['10.0.0.2'] }])).toBe(true);
    expect(standsBack(me(), [node], [self, other])).toBe(false);
  });

  it('goes on where the other waits, too', () => {
    const both = [self, fencer('f2', 'b')];
    expect(standsBack(me(), [a, b], both)).toBe(false);
    expect(standsBack({ ...me(), id: 'f2', host: { name: 'b', addresses: [] } }, [a, b], both)).toBe(false);
    expect(standsBack(me(), [a, b], [...both, fencer('f3', 'control')])).toBe(true);
  });
});

describe('a fencer that cannot start a driver', () => {
  it('stands back where another offers what waits and does not fail itself', () => {
    const cannot = me([], 'control-1');
    expect(standsBack(cannot, [a], [self, fencer('f2', 'control-2')])).toBe(true);
    expect(standsBack(cannot, [], [self, fencer('f2', 'control-2')])).toBe(false);
    expect(standsBack(cannot, [a], [self])).toBe(false);
    expect(standsBack(cannot, [a], [self, fencer('f2', 'control-2', [])])).toBe(false);
    expect(standsBack(cannot, [a], [self, fencer('f2', 'control-2', ['ipmitool'], ['ipmitool'])])).toBe(false);
    expect(standsBack(cannot, [waits('a', 'ipmitool', 'redfish')], [fencer('f2', 'control-2')])).toBe(false);
  });

  it('goes on with what the other cannot do, until that is done', () => {
    const other = [fencer('f2', 'control-2', ['redfish'])];
    expect(standsBack(me(['ipmitool'], 'control-1'), [a, waits('b', 'redfish')], other)).toBe(false);
    const more = [a, waits('b', 'redfish'), waits('c', 'redfish')];
    expect(standsBack(me(['ipmitool'], 'control-1'), more, other)).toBe(false);
    expect(standsBack(me(['ipmitool'], 'control-1'), [waits('b', 'redfish')], other)).toBe(true);
  });
});

it('never do fencers stand back in a circle', () => {
  const drivers = ['ipmitool', 'redfish', 'exec'];
  const hosts = ['a', 'b', 'c', 'control'];
  const waiting = fc.array(
    fc.record({ label: fc.constantFrom(...hosts.slice(0, 3)), drivers: fc.subarray(drivers, { minLength: 1 }) }),
    { maxLength: 4 },
  );
  const fencers = fc.array(
    fc.record({ host: fc.constantFrom(...hosts), drivers: fc.subarray(drivers), failing: fc.subarray(drivers) }),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(waiting, fencers, (nodes, given) => {
      const wait = nodes.map((n) => waits(n.label, ...n.drivers));
      const workers = given.map((f, i) => fencer(`f${i}`, f.host, f.drivers, f.failing));
      const back = workers.map((w) =>
        standsBack(
          {
            id: w.id,
            host: { name: w.host, addresses: [] },
            works: (d) => w.drivers.includes(d) && !w.failing.includes(d),
          },
          wait,
          workers,
        ),
      );
      expect(back).toContain(false);
    }),
    { numRuns: runs(300) },
  );
});
