import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { bootMark, DatagramTypes, decodeDatagram, encodeDatagram, type Datagram } from './datagram.js';

const datagram = (nonce: Buffer): Datagram => ({
  type: DatagramTypes.PROBE,
  from: 1n,
  to: 2n,
  epoch: 3n,
  boot: 201,
  network: 1,
  listVersion: 7,
  nonce,
});

describe('a datagram', () => {
  // 64 bytes are a block of SHA-256: longer keys count by their hash.
  it.each([16, 32, 64, 65, 200])(
    'bears the first half of HMAC-SHA256 over its body and its cluster, key of %i bytes',
    (length) => {
      const keys = { cluster: 'höhe', keys: [randomBytes(length)] };
      for (const nonce of [randomBytes(16), randomBytes(16)]) {
        const bytes = encodeDatagram(datagram(nonce), keys);
        const body = bytes.subarray(0, 48);
        const whole = createHmac('sha256', keys.keys[0]!).update(body).update('höhe').digest();
        expect(bytes.subarray(48)).toEqual(whole.subarray(0, 16));
        expect(decodeDatagram(bytes, keys)).toEqual(datagram(nonce));
      }
    },
  );

  it('is signed by the first key, and believed by each', () => {
    const [a, b] = [randomBytes(32), randomBytes(32)];
    const of = (...keys: Buffer[]): { cluster: string; keys: Buffer[] } => ({ cluster: 'c', keys });
    const sent = datagram(randomBytes(16));
    const bytes = encodeDatagram(sent, of(a, b));
    expect(decodeDatagram(bytes, of(b, a))).toEqual(sent);
    expect(decodeDatagram(bytes, of(a))).toEqual(sent);
    expect(decodeDatagram(bytes, of(b))).toBe('mac');
    expect(decodeDatagram(bytes, { ...of(a), cluster: 'd' })).toBe('mac');
  });

  it('goes by the keys as they are now: they are exchanged while it runs', () => {
    const [a, b] = [randomBytes(32), randomBytes(32)];
    const ring = { cluster: 'c', keys: [a] };
    const sent = datagram(randomBytes(16));
    const old = encodeDatagram(sent, ring);
    ring.keys = [b];
    expect(decodeDatagram(old, ring)).toBe('mac');
    expect(decodeDatagram(encodeDatagram(sent, ring), { cluster: 'c', keys: [b] })).toEqual(sent);
  });

  it('has room for a byte of a boot, which is never the one that tells nothing', () => {
    const marks = new Set(Array.from({ length: 5000 }, (_, i) => bootMark(`boot ${i}`)));
    expect([marks.size, Math.min(...marks), Math.max(...marks)]).toEqual([255, 1, 255]);
    expect(bootMark('boot 1')).toBe(bootMark('boot 1'));
  });

  it('is refused with any bit of it changed', () => {
    const keys = { cluster: 'c', keys: [randomBytes(32)] };
    const bytes = encodeDatagram(datagram(randomBytes(16)), keys);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(typeof decodeDatagram(changed, keys)).toBe('string');
    }
  });
});
