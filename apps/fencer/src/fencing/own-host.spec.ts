import { describe, expect, it } from '@jest/globals';
import { isOwnHost } from './own-host.js';

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
});
