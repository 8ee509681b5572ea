import { BlockList, isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { addressesAt, sameAddress } from './host-addresses.js';
import { atPort, ipBytes } from './ip-address.js';
import { runs, SEED } from '../testing/chance.js';

const texts = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.stringMatching(/^[0-9a-f:.]{0,24}$/),
  fc.stringMatching(/^(\d{1,3}\.){3}\d{1,4}$/),
);
const listOf = (fill: (list: BlockList) => void): BlockList => {
  const list = new BlockList();
  fill(list);
  return list;
};
const family = (text: string): 'ipv4' | 'ipv6' => (isIP(text) === 4 ? 'ipv4' : 'ipv6');

describe(`IP addresses, MUSTER_SEED=${SEED}`, () => {
  it('are those that Node takes for one', () => {
    for (const text of ['::', '::1', '1::', '::ffff:10.0.0.1', '1:2:3:4:5:6:7::', '1:2:3:4:5:6:1.2.3.4', '10.0.0.1'])
      expect([text, ipBytes(text)?.length]).toEqual([text, isIP(text) === 4 ? 4 : 16]);
    for (const text of ['', ':', ':::', '1::2::3', '01.2.3.4', '256.1.1.1', '1:2:3:4:5:6:7:8:9', '1.2.3.4:1::', 'g::'])
      expect([text, ipBytes(text), isIP(text)]).toEqual([text, undefined, 0]);
    fc.assert(
      fc.property(texts, (text) => (ipBytes(text)?.length ?? 0) === [0, 4, 16][[0, 4, 6].indexOf(isIP(text))]),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  it('stand before a port as in a URL', () => {
    expect(atPort('10.0.0.7', 4222)).toBe('10.0.0.7:4222');
    expect(atPort('fd00::7', '4222')).toBe('[fd00::7]:4222');
    expect(atPort('nats', 4222)).toBe('nats:4222');
  });

  it('are the same, and in a network, where Node says so', () => {
    const pairs = fc.oneof(fc.tuple(fc.ipV4(), fc.ipV4()), fc.tuple(fc.ipV6(), fc.ipV6()));
    fc.assert(
      fc.property(pairs, fc.nat(32), ([a, b], bits) => {
        const same = listOf((list) => list.addAddress(a, family(a))).check(b, family(b));
        const within = listOf((list) => list.addSubnet(a, bits, family(a))).check(b, family(b));
        expect(sameAddress(a, b)).toBe(same);
        expect(sameAddress(a, a)).toBe(true);
        expect(addressesAt(`${a}/${bits}`, [{ interface: 'eth0', address: b }])).toEqual(within ? [b] : []);
      }),
      { seed: SEED, numRuns: runs(300) },
    );
    expect(sameAddress('fd00::1', 'FD00:0:0::1')).toBe(true);
    expect(() => addressesAt('10.0.0.0/33', [{ interface: 'e', address: '10.0.0.1' }])).toThrow('is not a network');
  });
});
