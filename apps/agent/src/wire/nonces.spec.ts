import { describe, expect, it } from 'vitest';
import { Nonces } from './nonces.js';

describe('nonces', () => {
  it('are of 16 bytes, come once, and stay as they were given', () => {
    const sut = new Nonces();
    const given = Array.from({ length: 1000 }, () => {
      const nonce = sut.next();
      return { nonce, text: nonce.toString('hex') };
    });
    expect(given.map(({ nonce }) => nonce.toString('hex'))).toEqual(given.map(({ text }) => text));
    expect(new Set(given.map(({ text }) => text)).size).toBe(1000);
    expect(given[0]?.nonce).toHaveLength(16);
  });
});
