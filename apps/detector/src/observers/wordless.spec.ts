import { describe, expect, it } from 'vitest';
import type { ObserverEvidence } from '#contracts';
import type { Heard } from './report-book.js';
import { absent } from './stance.js';
import { wordlessIn } from './wordless.js';

const votes = (...observers: string[]) => observers.map(absent);
const spoke = (spokenAt: number): Heard => ({ spokenAt }) as Heard;
const book = new Map([
  ['speaks', spoke(900)],
  ['mum', spoke(600)],
  ['asked', spoke(950)],
]);
const evidence = [{ observer: 'speaks' }] as ObserverEvidence[];

describe('observers that say nothing', () => {
  it('are those that were to speak and are not in the evidence, each with why, and the age of its report', () => {
    const sut = wordlessIn(
      evidence,
      votes('speaks', 'mum', 'nobody-heard-it'),
      votes('asked', 'asked-in-vain'),
      (o) => book.get(o),
      1_000,
    );
    expect(sut).toEqual([
      { observer: 'mum', why: 'no-word', reportAgeMs: 400 },
      { observer: 'nobody-heard-it', why: 'never-heard' },
      { observer: 'asked', why: 'no-answer', reportAgeMs: 50, polled: true },
      { observer: 'asked-in-vain', why: 'never-heard', polled: true },
    ]);
  });

  it('are none where everyone has spoken', () => {
    expect(wordlessIn(evidence, votes('speaks'), [], (o) => book.get(o), 1_000)).toEqual([]);
  });
});
