import { describe, expect, it } from 'vitest';
import { MusterError } from '#contracts';
import { ApiFailure, apiError, isPassing } from './log-failure.js';

type Answer = [status: number, errCode: number, description: string];

/** As nats-server words them, from 2.9 to 2.15. */
const passing: Answer[] = [
  [503, 10008, 'JetStream system temporarily unavailable'],
  [503, 10076, 'JetStream not enabled'],
  [503, 10039, 'JetStream not enabled for account'],
  [503, 10023, 'insufficient resources'],
  [503, 10077, 'raft: not leader'],
  [503, 10163, 'expected last sequence per subject temporarily unavailable'],
  [400, 10005, 'no suitable peers for placement'],
  [400, 10005, 'no suitable peers for placement, peer offline'],
  [400, 10005, 'no suitable peers for placement, miscellaneous issue'],
  [500, 10007, 'JetStream cluster not assigned to this server'],
  [500, 10009, 'JetStream cluster can not handle request'],
  [500, 10118, 'stream is offline'],
  [500, 10119, 'consumer is offline'],
  [409, 10158, 'duplicate message id is in process'],
  [429, 10167, 'too many requests'],
];
const standing: Answer[] = [
  [400, 10005, 'no suitable peers for placement, insufficient storage'],
  [400, 10005, 'no suitable peers for placement, peer offline, insufficient storage'],
  [400, 10005, "no suitable peers for placement, tags not matched ['rack:a']"],
  [400, 10005, 'no suitable peers for placement, server tag not unique'],
  [503, 10010, 'JetStream clustering support required'],
  [503, 10036, 'not currently supported in clustered mode'],
  [500, 10194, 'stream is offline: unsupported - required API level: 9, current API level: 4'],
  [500, 10195, 'consumer is offline: unsupported - required API level: 9, current API level: 4'],
  [500, 10047, 'insufficient storage resources available'],
  [500, 10028, 'insufficient memory resources available'],
  [400, 10002, 'resource limits exceeded for account'],
  [500, 10074, 'replicas > 1 not supported in non-clustered mode'],
  [404, 10059, 'stream not found'],
  [404, 10014, 'consumer not found'],
  [400, 10058, 'stream name already in use with a different configuration'],
  [400, 10071, 'wrong last sequence: 7'],
  [400, 10003, 'bad request'],
];

const failure = ([status, errCode, description]: Answer): ApiFailure => new ApiFailure(errCode, status, description);

describe("an answer of JetStream's API", () => {
  it.each(passing)('%i %i passes: %s', (...answer) => {
    expect(isPassing(failure(answer))).toBe(true);
    expect(apiError(failure(answer), 'x')).toMatchObject({ code: 'BUS_UNAVAILABLE' });
  });

  it.each(standing)('%i %i stays: %s', (...answer) => {
    expect(isPassing(failure(answer))).toBe(false);
    expect(apiError(failure(answer), 'x')).toMatchObject({ code: 'INTERNAL' });
  });
});

describe('no answer', () => {
  it.each(['TIMEOUT', 'NO_RESPONDER', 'BUS_UNAVAILABLE'] as const)('passes: %s', (code) => {
    expect(isPassing(new MusterError(code, 'x'))).toBe(true);
  });

  it('is not a refusal of our own, nor what is no answer at all', () => {
    expect(isPassing(new MusterError('FORBIDDEN', 'x'))).toBe(false);
    expect(isPassing(new TypeError('x'))).toBe(false);
  });
});
