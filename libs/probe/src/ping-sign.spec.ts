import { describe, expect, it } from 'vitest';
import { pingMeans } from './ping-sign.js';

describe('the end of ping', () => {
  it.each([
    [0, '', 'reply'],
    [1, '', 'silent'],
    [2, 'ping: socket: Operation not permitted', 'cannot'],
    [2, 'ping: connect: Network is unreachable', 'not-tried'],
    [undefined, 'ENOENT', 'cannot'],
    [undefined, '', 'not-tried'],
  ])('%s %s: %s', (code, said, sign) => {
    expect(pingMeans(code, said)).toBe(sign);
  });
});
