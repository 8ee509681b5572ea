import { describe, expect, it } from 'vitest';
import { SETTLE_MS, Settling } from './settling.js';

describe('a new conductor', () => {
  const at = (now: number, token = 1) => ({ now, token });

  it('knows who lacks once nobody does, or after its time', () => {
    const sut = new Settling();
    expect(sut.hasSettled(at(0), true, false)).toBe(false);
    expect(sut.hasSettled(at(100), true, true)).toBe(true);
    expect(sut.hasSettled(at(200), true, false)).toBe(true);
    const slow = new Settling();
    expect(slow.hasSettled(at(1_000), true, false)).toBe(false);
    expect(slow.hasSettled(at(999 + SETTLE_MS), true, false)).toBe(false);
    expect(slow.hasSettled(at(1_000 + SETTLE_MS), true, false)).toBe(true);
  });

  it('begins anew with each term, and after each gap in what it sees', () => {
    const sut = new Settling();
    expect(sut.hasSettled(at(0), true, true)).toBe(true);
    expect(sut.hasSettled(at(100, 2), true, false)).toBe(false);
    expect(sut.hasSettled(at(200, 2), true, true)).toBe(true);
    expect(sut.hasSettled(at(300, 2), false, true)).toBe(false);
    expect(sut.hasSettled(at(400, 2), true, false)).toBe(false);
    expect(sut.hasSettled(at(300 + SETTLE_MS, 2), true, false)).toBe(true);
  });
});
