import type { AgeBook } from '../ages/age-book.js';

/** A span on this process's own monotonic clock, ms: no difference of times of day is one. */
export type AgeMs = number & { readonly clock: 'monotonic' };

export const ageMs = (ms: number): AgeMs => ms as AgeMs;

/** A reading of the clock that goes only while a detector is heard that sees the fleet, or a span on it, ms. */
export type SightedMs = number & { readonly clock: 'sighted' };

/**
 * Conditions whose ages matter to a decision: those that hold as of now, and those of which that cannot be said now. The
 * age of one that holds begins where it is new. One that nobody can speak of goes on, where it has begun. Every other is
 * over, and begins anew.
 */
export interface Conditions<C extends string> {
  readonly holds: Iterable<C>;
  readonly unknown?: Iterable<C>;
}

/** For how long conditions have held, as this process has seen it. */
export interface Ages<C extends string> {
  /** 0: it has only just begun, or was never seen. */
  of(condition: C): AgeMs;
}

/** Notes in the book what holds now. */
export function keepAges<C extends string>(book: AgeBook, { holds, unknown = [] }: Conditions<C>): void {
  const now = new Set<string>(holds);
  const kept = new Set<string>([...now, ...unknown]);
  book.retain((key) => kept.has(key));
  for (const key of now) book.see(key);
}

/** What the book says. */
export const agesIn = <C extends string>(book: AgeBook): Ages<C> => ({
  of: (condition) => ageMs(book.ageMs(condition)),
});
