import { describe, expect, it } from 'vitest';
import type { Operation } from './mutant.js';
import { mutate } from './mutate.js';
import { Source } from './source.js';

const CODE = `
const LIMIT = 3;
const WANTED = {
  inUse: { least: 1 },
  /** Said by nobody. */
  spare: { least: 2 },
};
class Gate {
  open(a: boolean, b: boolean, c: boolean): string {
    this.note(
      a, // who asked
      b,
    );
    if (a && (b || c)) return 'wide';
    else this.note(b, c);
    switch (WANTED.inUse.least) {
      case 1:
        return 'ajar';
      default:
        return 'shut';
    }
  }
  close(a: boolean, b: boolean): void {
    this.note(a, b);
    this.note(b, a);
    this.note(b, a);
  }
}
`;

const source = new Source(CODE);
const broken = (symbol: string, operation: Operation | readonly Operation[]): string => {
  const result = mutate(source, { symbol, operation });
  return 'ok' in result ? result.ok.replace(/\s+/g, ' ') : `problem: ${result.problem}`;
};

describe('a mutant', () => {
  it.each<[string, string, Operation | Operation[], string, string]>([
    ['leaves out a statement', 'Gate.close', { drop: 'this.note(a, b)' }, ': void { this.note(a, b);', ': void { '],
    ['leaves out a branch', 'Gate.open', { drop: 'this.note(b, c)' }, 'else this.note(b, c);', 'else {}'],
    ['leaves out a row', 'WANTED', { row: 'inUse: { least: 1 }' }, 'inUse: { least: 1 },', ''],
    ['leaves out a case', 'Gate.open', { row: "case 1: return 'ajar'" }, "case 1: return 'ajar';", ''],
    ['leaves out the first operand', 'Gate.open', { operand: 'a' }, 'a && (b || c)', '(b || c)'],
    ['leaves out an operand in brackets', 'Gate.open', { operand: 'b || c' }, 'a && (b || c)', 'a'],
    ['leaves out two at once', 'Gate.open', [{ operand: 'a' }, { operand: 'c' }], 'a && (b || c)', '(b)'],
    ['turns a condition round', 'Gate.open', { negate: 'b || c' }, '(b || c)', '(!(b || c))'],
    ['gives a constant another value', 'LIMIT', { set: 'LIMIT', to: '0' }, 'LIMIT = 3', 'LIMIT = 0'],
    ['gives a property another value', 'WANTED.spare', { set: 'least', to: '9' }, 'least: 2', 'least: 9'],
    ['puts one expression for another', 'Gate.open', { replace: "'wide'", with: "''" }, "'wide'", "''"],
    [
      'puts one call for another',
      'Gate.close',
      { replace: 'this.note(a, b)', with: 'go()' },
      'this.note(a, b);',
      'go();',
    ],
  ])('%s', (_what, symbol, operation, before, after) => {
    const whole = CODE.replace(/\s+/g, ' ');
    expect(broken(symbol, operation).replace(/\s+/g, '')).toBe(whole.replace(before, after).replace(/\s+/g, ''));
  });

  it('is found whatever the formatter and a comment make of the line', () => {
    expect(broken('Gate.open', { drop: 'this.note(a, b)' })).not.toContain('who asked');
  });

  it('whose symbol is gone says so, with the nearest and where its text stands now', () => {
    expect(broken('Gate.opens', { drop: 'this.note(b, c)' })).toBe(
      'problem: no symbol Gate.opens; nearest: Gate.open | Gate | Gate.close; it stands in Gate.open',
    );
  });

  it('whose line is gone says so, with the nearest', () => {
    expect(broken('Gate.close', { drop: 'this.noted(a, b)' })).toMatch(
      /^problem: no statement "this.noted\(a, b\)" in Gate.close; nearest: this.note\(a, b\);/,
    );
  });

  it('that fits two lines is refused, and they are named', () => {
    expect(broken('Gate.close', { drop: 'this.note(b, a)' })).toBe(
      'problem: 2 times the statement "this.note(b, a)" in Gate.close, lines 25, 26',
    );
  });

  it('after which the file does not parse is refused', () => {
    expect(broken('LIMIT', { set: 'LIMIT', to: '(' })).toMatch(/^problem: with it the file does not parse: /);
  });
});
