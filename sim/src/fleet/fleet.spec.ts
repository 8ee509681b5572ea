import { describe, expect, it } from 'vitest';
import { fleet } from './play-fleet.js';
import { namedFleets, type NamedFleet } from './named-fleet-histories.js';

describe('the whole plane in virtual time', () => {
  it('brings one death to its end: off, recovered, on, checked and in service; twice with the same events', async () => {
    const lines: string[] = [];
    const death = namedFleets['death'] as NamedFleet;
    const one = await fleet.oneNamed(death, { told: (_ms, line) => lines.push(line) });
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
    expect((await fleet.oneNamed(death)).hash).toBe(one.hash);
  });
});
