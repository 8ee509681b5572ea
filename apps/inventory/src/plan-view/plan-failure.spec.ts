import { expect, it } from 'vitest';
import { MusterError, type ErrorCode } from '#contracts';
import { planFailure } from './plan-failure.js';

it.each<[ErrorCode, ErrorCode, RegExp]>([
  ['NO_RESPONDER', 'NOT_LEADER', /^no inventory holds the lease.*where that lasts, start an inventory/],
  ['LEASE_LOST', 'NOT_LEADER', /^no inventory holds the lease.*where that lasts, start an inventory/],
  ['TIMEOUT', 'CONDUCTOR_SLOW', /^the inventory that holds the lease conductor has not answered within 2 s/],
  ['NODE_UNKNOWN', 'NODE_UNKNOWN', /^so it is$/],
])('a plan that ends with %s is refused with %s, as what it is', (code, told, text) => {
  const cause = new MusterError(code, 'so it is');
  const error = planFailure(cause, 2_000);
  expect(error).toMatchObject({ code: told, message: expect.stringMatching(text) });
  if (told !== code) expect([error.status, error.cause]).toEqual([503, cause]);
});
