import { describe, expect, it } from 'vitest';
import { keyId, parseKeysGiven } from '../wire/datagram-key-set.js';
import { parseReport } from '../wire/report.js';
import { oneTimeBox, sealTo } from './sealed-to.js';

describe('a text that is sealed to one', () => {
  it('is read by that one, and by nobody else', () => {
    const box = oneTimeBox();
    const sealed = sealTo(box.publicKey, 'the key');
    expect(JSON.stringify(sealed)).not.toContain('the key');
    expect(box.open(sealed)).toBe('the key');
    expect(() => oneTimeBox().open(sealed)).toThrow(/authenticate/);
    expect(sealTo(box.publicKey, 'the key')).not.toEqual(sealed);
  });

  it.each(['from', 'iv', 'tag', 'data'] as const)('is refused where its %s was changed', (member) => {
    const box = oneTimeBox();
    const sealed = sealTo(box.publicKey, 'the key');
    const other = sealTo(box.publicKey, 'another');
    expect(() => box.open({ ...sealed, [member]: other[member] })).toThrow(/authenticate/);
  });

  it('goes to no text that is no public key', () => {
    for (const nobody of ['', 'x', 'A'.repeat(43)]) expect(() => sealTo(nobody, 'the key')).toThrow(/JWK|deriv/i);
  });
});

describe('keys that are given', () => {
  it('have a version, and are one or two', () => {
    const [a, b] = ['11'.repeat(32), '22'.repeat(32)];
    expect(parseKeysGiven(JSON.stringify({ version: 5, keys: [a, b] })).keys.map((k) => k.toString('hex'))).toEqual([
      a,
      b,
    ]);
    for (const wrong of [
      {},
      { version: 1 },
      { version: 0, keys: [a] },
      { version: 1, keys: [] },
      { version: 1, keys: ['x'] },
    ])
      expect(() => parseKeysGiven(JSON.stringify(wrong))).toThrow(/version|no keys|hex digits/);
  });

  it('are named by what tells nothing of them', () => {
    expect(keyId(Buffer.alloc(32, 7))).toMatch(/^[0-9a-f]{8}$/);
    expect(keyId(Buffer.alloc(32, 7))).not.toBe(keyId(Buffer.alloc(32, 8)));
  });

  it('are no part of a report that is anything but their names', () => {
    const report = { v: 1, node: 'a', bootId: 'b', epoch: 1, seq: 1, listVersion: 1, networks: ['m'], peers: [] };
    const said = (keys: unknown) =>
      parseReport(JSON.stringify({ ...report, keys, health: { abstain: false, sendErrors: {}, loopGapMs: 0 } }));
    expect(said(undefined)?.keys).toBeUndefined();
    expect(said(['1f3a9c2e', '77aa01bc'])?.keys).toEqual(['1f3a9c2e', '77aa01bc']);
    for (const wrong of ['1f3a9c2e', ['x'], [7], Array.from({ length: 5 }, () => '1f3a9c2e'), null]) {
      const report = said(wrong);
      expect([report?.node, report?.keys]).toEqual(['a', undefined]);
      expect(report?.health.warnings).toEqual(['report: cannot be read: which keys it has']);
    }
  });
});
