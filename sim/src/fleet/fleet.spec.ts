import { describe, expect, it } from 'vitest';
import { fleet } from './play-fleet.js';
import { drawFleet } from './fleet-history.js';
import { namedFleets, type NamedFleet } from './named-fleet-histories.js';

const namedOf = (name: string): NamedFleet => namedFleets[name] as NamedFleet;

describe('the whole plane in virtual time', () => {
  it('brings one death to its end: off, recovered, on, checked and in service; twice with the same events', async () => {
    const lines: string[] = [];
    const one = await fleet.oneNamed(namedOf('death'), { told: (_ms, line) => lines.push(line) });
    expect(one.violations).toEqual([]);
    const told = lines.filter((line) => line.startsWith('inventory-') && line.includes('incident '));
    expect(told.map((line) => /incident (\w+)/.exec(line)?.[1])).toEqual([
      'open',
      'investigating',
      'fencing',
      'fenced',
      'recovering',
      'recovered',
      'closed',
    ]);
    expect(one.probes.get('started elsewhere after: off')).toBe(1);
    expect((await fleet.oneNamed(namedOf('death'))).hash).toBe(one.hash);
  });

  it.each(Object.entries(namedFleets).filter(([name, n]) => name !== 'death' && !n.knownRed))(
    'breaks no rule in the history %s',
    async (_name, named) => {
      expect((await fleet.oneNamed(named)).violations).toEqual([]);
    },
  );

  for (const [name, named] of Object.entries(namedFleets).filter(([, n]) => n.knownRed))
    it(`is known to be red in the history ${name}: ${named.shows}`, async () => {
      const { violations } = await fleet.oneNamed(named);
      expect([...new Set(violations.map((v) => v.rule))]).toEqual(named.knownRed);
    });

  it('powers nobody off in a storm that heals, which it has tripped', async () => {
    const { probes } = await fleet.oneNamed(namedOf('storm-heals'));
    expect(probes.get('a storm is tripped')).toBe(1);
    expect(probes.get('stopped by BRAKE')).toBeGreaterThan(0);
    expect(probes.get('incident fencing')).toBeUndefined();
  });
});

describe('random histories of the whole plane', () => {
  it('break no rule', async () => {
    const { violations, probes } = await fleet.random(4, 1);
    expect(violations).toEqual([]);
    expect(probes['fenced: read-back']).toBeGreaterThan(0);
  });

  it('are the same each time, whether or not somebody reads along', async () => {
    const one = await fleet.one(drawFleet(3, 1));
    expect(await fleet.one(drawFleet(3, 1), { told: () => undefined })).toEqual(one);
    expect((await fleet.one(drawFleet(3, 2))).hash).not.toBe(one.hash);
  });
});
