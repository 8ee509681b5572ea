import { describe, expect, it } from '@jest/globals';
import { createAccount, createOperator, createUser, fromPublic } from '@nats-io/nkeys';
import { keyPair, seedOf } from './nkey.js';

describe('a key pair', () => {
  it.each([createOperator, createAccount, createUser])('is the one that nkeys makes of the seed', (create) => {
    const theirs = create();
    const ours = keyPair(seedOf(theirs));
    expect(ours.getPublicKey()).toBe(theirs.getPublicKey());
    const text = new TextEncoder().encode('text');
    expect(fromPublic(theirs.getPublicKey()).verify(text, ours.sign(text))).toBe(true);
  });

  it('is refused where the seed has a typing error', () => {
    const seed = seedOf(createUser());
    expect(() => keyPair(`${seed.slice(0, -1)}${seed.endsWith('A') ? 'B' : 'A'}`)).toThrow(/checksum/i);
  });
});
