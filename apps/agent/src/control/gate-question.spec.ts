import { describe, expect, it } from 'vitest';
import { judgeGate } from './gate-question.js';

describe('the start gate', () => {
  it.each<[string, string, number | undefined, boolean]>([
    ['allows what the control plane allows', '{"allowed":true,"generation":4,"reason":""}', undefined, true],
    ['allows the generation that the unit was made for', '{"allowed":true,"generation":4,"reason":""}', 4, true],
    ['refuses another generation', '{"allowed":true,"generation":5,"reason":""}', 4, false],
    ['refuses a generation that nobody confirms', '{"allowed":true,"reason":""}', 4, false],
    ['refuses what the control plane refuses', '{"allowed":false,"reason":"on another node"}', undefined, false],
    ['refuses on an error', '{"code":"TIMEOUT","message":"slow"}', undefined, false],
    ['refuses on an unclear answer', '{"allowed":"yes"}', undefined, false],
    ['refuses on null', 'null', undefined, false],
    ['refuses on garbage', 'yes', undefined, false],
  ])('%s', (_what, text, generation, allowed) => {
    const answer = judgeGate(text, generation);
    expect(answer.allowed).toBe(allowed);
    if (!allowed) expect(answer.reason).not.toBe('');
  });
});
