import { describe, expect, it } from 'vitest';
import { isOwnHost, knownHost } from './own-host.js';

const node = (label: string, address: string) => ({
  name: `${label}-s1`,
  label,
  networks: { management: { address } },
});
const a = node('a', '192.0.2.1');

describe('the fencer and its own host', () => {
  it('is known by its label, its name or its address, with or without a domain', () => {
    for (const name of ['a', 'A', 'a.example.org', 'a-s1', '192.0.2.1'])
      expect(isOwnHost(a, { name, addresses: [] })).toBe(true);
    for (const name of ['ab', 'b', '192.0.2.2', '192.0.3.9']) expect(isOwnHost(a, { name, addresses: [] })).toBe(false);
    expect(isOwnHost(a, { name: 'control', addresses: ['192.0.2.1'] })).toBe(true);
  });

  it('is the machine that it was told of, also where a container hides that one, and what it sees itself', () => {
    const seen = { name: '0b9f1c2d3e4f', addresses: ['172.18.0.5'] };
    expect(knownHost({ name: 'a', addresses: ['192.0.2.1'] }, seen)).toEqual({
      name: 'a',
      addresses: ['192.0.2.1', '172.18.0.5'],
    });
    expect(knownHost({ addresses: [] }, seen)).toEqual(seen);
    expect(isOwnHost(a, knownHost({ name: 'control', addresses: ['192.0.2.1'] }, seen))).toBe(true);
  });
});
