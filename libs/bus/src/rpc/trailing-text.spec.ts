import { describe, expect, it } from 'vitest';
import { readAnswer, writeAnswer } from './trailing-text.js';

const text = Array.from({ length: 500 }, (_, i) => `{"name":"host-${i}",\n"rack":"\\u00e9"}`).join(',');
const page = { response: { text, count: 500, next: 'host-499' }, isDisposed: true, id: '1' };

describe('an answer with a long text', () => {
  it('is read as it was written, behind its JSON and within, whatever the text has in it', () => {
    for (const trailing of [true, false]) expect(readAnswer(writeAnswer(page, trailing))).toEqual(page);
  });

  it('has the text as it is for who reads that, and is plain JSON for everybody else', () => {
    expect(writeAnswer(page, true).endsWith(`\n${text}`)).toBe(true);
    expect(JSON.parse(writeAnswer(page, false))).toEqual(page);
  });
});

it.each([
  { response: { text: 'a\nb' }, id: '1' },
  { response: 'x'.repeat(9_000) },
  { response: { text: 7 } },
  { response: null },
  { err: { code: 'NODE_UNKNOWN', message: 'no\nnode' }, isDisposed: true },
])('an answer of another kind is JSON also for who reads the other (%#)', (packet) => {
  const written = writeAnswer(packet, true);
  expect(JSON.parse(written)).toEqual(packet);
  expect(readAnswer(written)).toEqual(packet);
});
