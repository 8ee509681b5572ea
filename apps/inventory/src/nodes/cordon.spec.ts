import { describe, expect, it } from 'vitest';
import { cordoned } from './cordon.js';

describe('a cordon', () => {
  it('has an end where one was given, and says that it drains', () => {
    const o = { by: 'ann', reason: 'disk' };
    expect(cordoned(o, false, 5)).toEqual({ ...o, at: 5 });
    expect(cordoned({ ...o, until: 9 }, true, 5)).toEqual({ ...o, at: 5, until: 9, drain: true });
  });
  it('is refused where it would have ended already', () => {
    for (const drain of [true, false])
      expect(() => cordoned({ by: 'ann', reason: 'disk', until: 5 }, drain, 5)).toThrow('in the past');
  });
});
