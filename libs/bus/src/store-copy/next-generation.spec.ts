import { describe, expect, it } from 'vitest';
import { generationFloor } from '#contracts';
import { nextGeneration } from './next-generation.js';

const wallMs = Date.UTC(2026, 5, 1);
const now = wallMs / 1000;
const copied = wallMs - 86_400_000;

describe('the generation of a store that is loaded from a copy', () => {
  it('is the time of the load, above what nobody here remembers', () => {
    expect(nextGeneration({ known: [], copied, wallMs })).toBe(now);
    expect(nextGeneration({ known: [now - 60], copied, wallMs })).toBe(now);
  });

  it('is above each that is known, also within one second and where the clock is behind', () => {
    expect(nextGeneration({ known: [now], copied, wallMs })).toBe(now + 1);
    expect(nextGeneration({ known: [5, now + 900, 7], copied, wallMs })).toBe(now + 901);
  });

  it('is not before what is in the copy, where the clock is', () => {
    expect(nextGeneration({ known: [], copied, wallMs: 0 })).toBe(copied / 1000);
  });

  it('leaves room for tokens above it, or is refused', () => {
    expect(
      Number.isSafeInteger(generationFloor(nextGeneration({ known: [], copied, wallMs: Date.UTC(2100, 0, 1) }))),
    ).toBe(true);
    for (const wrong of [2 ** 40, Number.NaN])
      expect(() => nextGeneration({ known: [wrong], copied, wallMs })).toThrow('no room above it');
  });
});
