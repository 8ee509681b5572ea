import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { runs } from '#contracts/testing/chance.js';
import { goSyntaxError } from './go-json.js';

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('what Go would say of a text', () => {
  it.each([
    ['{"nodes":', 'unexpected end of JSON input'],
    ['', 'unexpected end of JSON input'],
    ['{"foo":}', "invalid character '}' looking for beginning of value"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['[1 2]', "invalid character '2' after array element"],
    ['{} x', "invalid character 'x' after top-level value"],
    ['nul!', "invalid character '!' in literal null (expecting 'l')"],
    ['"\\q"', "invalid character 'q' in string escape code"],
    ['-a', "invalid character 'a' in numeric literal"],
    ['"\n"', "invalid character '\\n' in string literal"],
  ])('%j', (text, sentence) => {
    expect(goSyntaxError(text)).toBe(sentence);
  });

  it('is nothing exactly where JSON.parse has nothing against it', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      '"',
      ',',
      ':',
      '1',
      '-',
      '.',
      'e',
      '0',
      'true',
      'null',
      'fals',
      '\\',
      'u00e9',
      ' ',
    ];
    const text = fc.oneof(
      fc.json(),
      fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((p) => p.join('')),
      fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...pieces)).map(([json, at, piece]) => {
        const place = at % (json.length + 1);
        return json.slice(0, place) + piece + json.slice(place + 1);
      }),
    );
    fc.assert(
      fc.property(text, (t) => (goSyntaxError(t) === undefined) === parses(t)),
      { numRuns: runs(20_000) },
    );
  });

  it('does not run out of stack', () => {
    expect(goSyntaxError('['.repeat(1_000_000))).toBe('exceeded max depth');
  });
});
