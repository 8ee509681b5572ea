import { describe, expect, it } from 'vitest';
import { anIncident } from '../../testing/records.js';
import { gateToRelease, released, type Release } from './released.js';

const eve: Release = { by: 'eve', reason: 'go on', at: 9, gate: 'BRAKE', force: false, wantedAt: 'DOWN' };
const before = { by: 'bob', reason: 'it hangs', at: 1, gates: ['LIFE_SIGN' as const], force: true };
const stopped = anIncident('n-1', { phase: 'suppressed', gate: 'BRAKE', cause: 'manual', wantedAt: 'DOWN' });

describe('a release', () => {
  it('is refused where no gate stops the incident, or another one than the person saw', () => {
    expect(gateToRelease(stopped)).toBe('BRAKE');
    expect(gateToRelease(stopped, 'BRAKE')).toBe('BRAKE');
    expect(() => gateToRelease(stopped, 'CAP')).toThrow(
      'The incident of n-1 is blocked by BRAKE: it is not released past CAP.',
    );
    expect(() => gateToRelease(anIncident('n-1', { phase: 'fencing' }))).toThrow('is fencing: no gate stops it');
  });

  it('goes past the gate that stopped it, by whom and why', () => {
    const i = released(stopped, eve);
    expect(i).toMatchObject({ phase: 'investigating', wantedAt: 'DOWN' });
    expect(i.released).toEqual({ by: 'eve', reason: 'go on', at: 9, gates: ['BRAKE'], force: false });
    expect(i.steps.at(-1)?.detail).toBe('eve released it past BRAKE: go on');
  });

  it('goes past the gates that were released before, with their force, while nobody hears the node', () => {
    for (const wantedAt of ['DOWN', 'UNKNOWN', 'SUSPECT', 'LEFT'] as const)
      expect(released({ ...stopped, released: before }, { ...eve, wantedAt }).released).toMatchObject({
        ...{ gates: ['LIFE_SIGN', 'BRAKE'], force: true },
      });
  });

  it('leaves behind what was released while nobody heard the node, which is heard again', () => {
    for (const wantedAt of ['UP', 'DEGRADED'] as const)
      expect(released({ ...stopped, released: before }, { ...eve, wantedAt }).released).toMatchObject({
        ...{ gates: ['BRAKE'], force: false },
      });
    expect(released({ ...stopped, released: before }, { ...eve, force: true, wantedAt: 'UP' }).released).toMatchObject({
      ...{ gates: ['BRAKE'], force: true },
    });
  });

  it('keeps what was forced while the node was heard', () => {
    const alive = { ...stopped, wantedAt: 'UP' as const, released: before };
    expect(released(alive, { ...eve, wantedAt: 'UP' }).released?.gates).toEqual(['LIFE_SIGN', 'BRAKE']);
  });
});
