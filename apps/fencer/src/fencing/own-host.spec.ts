import { describe, expect, it } from '@jest/globals';
import { isOwnHost, standsBack } from './own-host.js';

const node = (label: string, address: string) => ({
  name: `${label}-s1`,
  label,
  networks: { management: { address } },
});
const a = node('a', '192.0.2.1');
const b = node('b', '192.0.2.2');
const host = { name: 'a.example.org', addresses: ['192.0.2.1'] };
const fencer = (id: string, on: string) => ({ service: 'fencer' as const, id, host: on });

describe('the fencer and its own host', () => {
  it('is known by its label, its name or its address, with or without a domain', () => {
    for (const name of ['a', 'A', 'a.example.org', 'a-s1', '192.0.2.1'])
      expect(isOwnHost(a, { name, addresses: [] })).toBe(true);
    for (const name of ['ab', 'b', '192.0.2.2', '192.0.3.9']) expect(isOwnHost(a, { name, addresses: [] })).toBe(false);
    expect(isOwnHost(a, { name: 'control', addresses: ['192.0.2.1'] })).toBe(true);
  });

  it('stands back where another can fence it, and not otherwise', () => {
    const both = [fencer('f1', 'a.example.org'), fencer('f2', 'b.example.org')];
    expect(standsBack('f1', host, [a], both)).toBe(true);
    expect(standsBack('f1', host, [b], both)).toBe(false);
    expect(standsBack('f1', host, [], both)).toBe(false);
    expect(standsBack('f1', host, [a], [fencer('f1', 'a.example.org'), fencer('f2', 'a')])).toBe(false);
    expect(standsBack('f1', host, [a], [{ ...fencer('p1', 'c'), service: 'provisioner' }])).toBe(false);
  });

  it('never do both stand back, each for the other', () => {
    const both = [fencer('f1', 'a'), fencer('f2', 'b')];
    expect(standsBack('f1', host, [a, b], both)).toBe(false);
    expect(standsBack('f2', { name: 'b', addresses: [] }, [a, b], both)).toBe(false);
    expect(standsBack('f1', host, [a, b], [...both, fencer('f3', 'control')])).toBe(true);
  });
});
