import { describe, expect, it } from 'vitest';
import { createAccount, createOperator, createUser, fromPublic } from '@nats-io/nkeys';
import { keyPair, proofOf, seedOf } from './nkey.js';

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
    // Not its last character: some of that one's bits are beyond the bytes that it tells.
    expect(() => keyPair(`${seed.slice(0, 20)}${seed[20] === 'A' ? 'B' : 'A'}${seed.slice(21)}`)).toThrow(/checksum/i);
  });
});

describe('the proof that a user is who its JWT says', () => {
  it('is signed anew for each nonce, by the seed', () => {
    const theirs = createUser();
    const prove = proofOf({ jwt: 'jwt', seed: seedOf(theirs) });
    for (const nonce of ['one', 'another']) {
      const { sig, ...rest } = prove(nonce);
      expect(rest).toEqual({ jwt: 'jwt', nkey: theirs.getPublicKey() });
      expect(sig).toMatch(/^[\w-]+$/);
      const signed = fromPublic(theirs.getPublicKey()).verify(Buffer.from(nonce), Buffer.from(sig, 'base64url'));
      expect(signed).toBe(true);
    }
  });
});
