import { validateSync } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { AcceptDriftRequest, CordonRequest, LAST_DATE_MS } from './requests.js';
import { toRequest } from './to-request.js';

describe('a time until when something holds', () => {
  it.each([
    ['an accepted drift', AcceptDriftRequest],
    ['a cordon', CordonRequest],
  ])('of %s is one that a clock can show', (_of, type) => {
    const wrong = (until: number): string[] =>
      validateSync(toRequest<object>(type, { reason: 'a trial', until })).map((e) => e.property);
    for (const ms of [-1, -1e308, -LAST_DATE_MS - 1, LAST_DATE_MS + 1])
      expect([ms, wrong(ms)]).toEqual([ms, ['until']]);
    for (const ms of [0, 1_700_000_000_000, LAST_DATE_MS]) expect([ms, wrong(ms)]).toEqual([ms, []]);
  });
});
