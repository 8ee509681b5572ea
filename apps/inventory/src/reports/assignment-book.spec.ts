import { describe, expect, it } from 'vitest';
import { AssignmentBook } from './assignment-book.js';

const on = (node: string | undefined, generation: number): Parameters<AssignmentBook['see']>[1] => ({
  generation,
  ...(node !== undefined && { assignment: { node, generation } }),
});

describe('where a workload was assigned', () => {
  it('is where it is, and where it was at that moment or later', () => {
    const book = new AssignmentBook(0, [{ name: 'w', generation: 3, assignment: { node: 'a', generation: 3 } }]);
    expect(book.mayHaveBeenOn('a', 'w', 50)).toBe(true);
    expect(book.mayHaveBeenOn('b', 'w', 50)).toBe(false);
    book.see('w', on(undefined, 4), 100);
    book.see('w', on('b', 5), 110);
    expect(book.mayHaveBeenOn('a', 'w', 100)).toBe(true);
    expect(book.mayHaveBeenOn('a', 'w', 101)).toBe(false);
    expect(book.mayHaveBeenOn('b', 'w', 200)).toBe(true);
    book.see('w', on('b', 5), 120);
    expect(book.mayHaveBeenOn('a', 'w', 101)).toBe(false);
  });

  it('is not known of a moment before it began to look', () => {
    const book = new AssignmentBook(1000);
    expect(book.mayHaveBeenOn('a', 'w', 999)).toBe(true);
    expect(book.mayHaveBeenOn('a', 'w', 1000)).toBe(false);
  });

  it('may be anywhere once a generation was skipped: another assignment may have come and gone', () => {
    const book = new AssignmentBook(0, [{ name: 'w', generation: 3 }]);
    book.see('w', on(undefined, 5), 100);
    expect(book.mayHaveBeenOn('a', 'w', 100)).toBe(true);
    expect(book.mayHaveBeenOn('a', 'w', 101)).toBe(false);
  });

  it('may have been anywhere before it was registered again; a new one was nowhere', () => {
    const book = new AssignmentBook(0);
    book.see('w', on('a', 1), 100);
    expect(book.mayHaveBeenOn('b', 'w', 50)).toBe(false);
    book.see('w', undefined, 200);
    expect(book.mayHaveBeenOn('a', 'w', 200)).toBe(true);
    book.see('w', on(undefined, 2), 300);
    expect(book.mayHaveBeenOn('b', 'w', 300)).toBe(true);
  });

  it('is forgotten of a node for the time before the earliest moment that is asked about', () => {
    let asked = 0;
    const at = { node: 'a', generation: 1 };
    const all = ['v', 'w', 'x'].map((name) => ({ name, generation: 1, assignment: at }));
    const book = new AssignmentBook(0, all, () => asked);
    book.see('v', on(undefined, 2), 100);
    book.see('w', on(undefined, 2), 200);
    asked = 150;
    book.see('x', on(undefined, 2), 300);
    expect(['v', 'w', 'x'].map((name) => book.mayHaveBeenOn('a', name, 50))).toEqual([false, true, true]);
  });
});
