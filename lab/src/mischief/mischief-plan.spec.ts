import { describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { decodeDatagram, type DatagramKeys } from '#contracts';
import { MischiefKinds, mischiefOrder, type MischiefKind } from './mischief-plan.js';

const keys: DatagramKeys = { cluster: 'lab', keys: [Buffer.alloc(32, 7)] };

function seeded(): (bytes: number) => Buffer {
  let n = 0;
  const block = (): Buffer => createHash('sha256').update(`seed ${n++}`).digest();
  return (bytes) => Buffer.concat(Array.from({ length: Math.ceil(bytes / 32) }, block)).subarray(0, bytes);
}

const orderOf = (kind: MischiefKind) => mischiefOrder(kind, { to: 'a', from: 'b', keys, count: 40, random: seeded() });
const refusals = (kind: MischiefKind) => [
  ...new Set(orderOf(kind).send?.map((hex) => decodeDatagram(Buffer.from(hex, 'hex'), keys)) ?? []),
];

describe('datagrams that nobody should send', () => {
  it('are refused by the codec, each for its own reason, those of noise for several', () => {
    expect(refusals('truncated')).toEqual(['size']);
    expect(refusals('oversized')).toEqual(['size']);
    expect(refusals('foreign-cluster')).toEqual(['mac']);
    expect(refusals('wrong-key')).toEqual(['mac']);
    expect(refusals('noise').every((r) => typeof r === 'string')).toBe(true);
  });

  it('would have been good ones, but for what is wrong with them', () => {
    const first = Buffer.from(orderOf('oversized').send?.[0] ?? '', 'hex').subarray(0, 64);
    expect(decodeDatagram(first, keys)).toMatchObject({ type: 1, network: 0 });
    const foreign = Buffer.from(orderOf('foreign-cluster').send?.[0] ?? '', 'hex');
    expect(decodeDatagram(foreign, { ...keys, cluster: 'not-lab' })).toMatchObject({ type: 1 });
  });

  it('are as many as were asked for, of any size that UDP carries', () => {
    const sizes = (kind: MischiefKind) => orderOf(kind).send?.map((hex) => hex.length / 2) ?? [];
    expect(sizes('truncated')).toHaveLength(40);
    expect([Math.min(...sizes('truncated')), Math.max(...sizes('truncated'))]).toEqual([0, 63]);
    expect([Math.min(...sizes('oversized')), Math.max(...sizes('oversized'))]).toEqual([65, 65_507]);
  });

  it('are captured where they must have been real', () => {
    const captured = MischiefKinds.filter((k) => orderOf(k).capture !== undefined);
    expect(captured).toEqual(['late', 'duplicate', 'reordered', 'replay', 'echo-back']);
    expect(orderOf('late')).toMatchObject({ capture: { way: 'to', types: [2], count: 40 }, delay: 8 });
    expect(orderOf('echo-back')).toMatchObject({ capture: { way: 'from', types: [1] } });
  });
});
