import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { fromSeed, type KeyPair } from '@nats-io/nkeys';

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const KEY_BYTES = 32;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * The key pair of a seed. nkeys computes in JavaScript, at each call anew: 5 ms for a public key, 40 for a JWT, and
 * nobody else runs meanwhile; by node:crypto it is less than one.
 */
export function keyPair(seed: string): KeyPair {
  const bytes = fromBase32(seed);
  const raw = bytes.subarray(2, 2 + KEY_BYTES);
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, raw]), format: 'der', type: 'pkcs8' });
  const publicBytes = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES);
  // A seed begins with 5 bits that say "seed", then the 8 bits that a public key of its kind begins with.
  const kind = ((bytes[0]! & 7) << 5) | (bytes[1]! >> 3);
  const publicKey = publicText(kind, publicBytes);
  const pair = fromSeed(new TextEncoder().encode(seed));
  return Object.assign(pair, {
    getPublicKey: () => publicKey,
    // The JWT library asks only whether there is one.
    getPrivateKey: () => pair.getSeed(),
    sign: (data: Uint8Array): Uint8Array => sign(null, data, key),
  });
}

/**
 * Proves to a NATS server, at each connection anew, that this is the user of the JWT. The library's own proof is made
 * in JavaScript: for 40 ms, on a busy machine for half a second, the process does nothing else, and that just when a
 * server is back to which all of its clients come at once.
 */
export function proofOf({ jwt, seed }: { jwt: string; seed: string }): (nonce?: string) => NatsProof {
  const pair = keyPair(seed);
  return (nonce = '') => ({
    jwt,
    nkey: pair.getPublicKey(),
    sig: Buffer.from(pair.sign(Buffer.from(nonce))).toString('base64url'),
  });
}

/** As the protocol of NATS has it. */
export interface NatsProof {
  jwt: string;
  nkey: string;
  /** Of the server's nonce, in base64url. */
  sig: string;
}

export const publicKeyOf = (seed: string): string => keyPair(seed).getPublicKey();

export const seedOf = (pair: KeyPair): string => new TextDecoder().decode(pair.getSeed());

/** As people and configurations see it: kind, key and checksum in base32. */
function publicText(kind: number, key: Uint8Array): string {
  const bytes = Buffer.from([kind, ...key]);
  const sum = crc16(bytes);
  return toBase32(Buffer.concat([bytes, Buffer.from([sum & 0xff, sum >> 8])]));
}

/** CRC-16/XMODEM. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc;
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((c) => BASE32.indexOf(c).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
}

function toBase32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[parseInt(five.padEnd(5, '0'), 2)]).join('');
}
