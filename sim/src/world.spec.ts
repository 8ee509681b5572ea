import { expect, it } from 'vitest';
import { World, type Fault } from './world.js';

const pause = (from: number, until: number, host = false): Fault => ({ kind: 'pause', node: 0, host, from, until });

it('two pauses that overlap are one standstill, which is as long as both together', () => {
  const world = new World(1, [pause(3180, 4550), pause(3100, 4510, true), pause(9000, 9100), pause(9050, 9060)]);
  expect(world.standstillsOf(0)).toEqual([
    { from: 3100, until: 4550 },
    { from: 9000, until: 9100 },
  ]);
  expect([3099, 3100, 4549, 4550].map((t) => world.runs(0, t))).toEqual([true, false, false, true]);
});
