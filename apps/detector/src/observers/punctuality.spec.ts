import { beforeEach, describe, expect, it } from 'vitest';
import { Punctuality } from './punctuality.js';

describe('how late reports are', () => {
  let p: Punctuality;
  beforeEach(() => {
    p = new Punctuality();
    // Each second, with a clock that is far from ours, and 3 to 5 ms on the way.
    for (let t = 0; t <= 4000; t += 1000) p.lateness(1, 900_000 + t, t + 3 + (t % 3));
  });

  it('is next to nothing for those that come as they are sent', () => {
    expect(p.lateness(1, 905_000, 5_004)).toBe(1);
  });

  it('is the time that they waited on their way', () => {
    expect(p.lateness(1, 905_000, 8_003)).toBe(3_000);
    expect(p.lateness(1, 907_500, 8_010)).toBe(507);
  });

  it('begins anew with another process, whose clock is another', () => {
    expect(p.lateness(2, 40, 9_000)).toBe(0);
    expect(p.lateness(2, 1_040, 10_200)).toBe(200);
  });

  it('forgets a clock that stood still with its machine', () => {
    // A minute in which its clock did not run.
    expect(p.lateness(1, 905_000, 65_003)).toBe(0);
    expect(p.lateness(1, 906_000, 66_003)).toBe(0);
    // The same for some seconds: late at first, and no longer than two windows.
    const late = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((i) =>
      p.lateness(1, 907_000 + i * 1000, 70_003 + i * 1000),
    );
    expect(late[0]).toBe(3_000);
    expect(late.at(-1)).toBe(0);
  });
});
