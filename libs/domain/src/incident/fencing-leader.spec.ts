import { expect, it } from 'vitest';
import { isTakenOver } from './fencing-leader.js';

it('an incident belongs to whoever has written it with the latest token, and to any leader while none has', () => {
  expect([6, 7, 8].map((epoch) => isTakenOver({ epoch }, 7))).toEqual([false, false, true]);
  expect(isTakenOver({}, 1)).toBe(false);
});
