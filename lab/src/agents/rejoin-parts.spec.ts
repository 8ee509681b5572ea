import { describe, expect, it } from 'vitest';
import { changedParts, withoutParts } from './rejoin-parts.js';

describe('the parts of rejoin', () => {
  it('are off where they are named, in one list or in several', () => {
    expect(withoutParts([])).toEqual({});
    expect(withoutParts(['loop,timer', 'low-rate'])).toEqual({ loop: false, timer: false, lowRate: false });
  });

  it('are switched one by one, the others stay', () => {
    expect(changedParts({ timer: false }, ['loop=off', 'triggers=on,low-rate=off'])).toEqual({
      timer: false,
      loop: false,
      triggers: true,
      lowRate: false,
    });
  });

  it('are refused by names that there are not, as members of every object are', () => {
    expect(() => withoutParts(['constructor'])).toThrow(
      'no part "constructor"; it has loop, timer, triggers, low-rate',
    );
    for (const wrong of ['loop', 'loop=maybe', 'loop=on=off', '=on', ''])
      expect(() => changedParts({}, [wrong])).toThrow(/on or off is expected|no part/);
  });
});
