import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { ASKED_MOST, chooseObservers, type Candidate } from './choose-observers.js';

const host = { name: 'n-1', domain: 'rack-1' };
const c = (name: string, domain: string, o: Partial<Candidate> = {}): Candidate => ({
  name,
  domain,
  networks: 2,
  telling: false,
  ...o,
});
const chosen = (...candidates: Candidate[]): string[] => chooseObservers(host, candidates).sort();

describe('whom to ask whether a host lives', () => {
  it('are three, each in another failure domain than the host and each other, where there are such', () => {
    const all = ['rack-1', 'rack-2', 'rack-3', 'rack-4'].flatMap((r) => [c(`${r}-a`, r), c(`${r}-b`, r)]);
    const racks = chosen(...all).map((name) => name.slice(0, 6));
    expect(racks).toEqual(['rack-2', 'rack-3', 'rack-4']);
    expect(chosen(c('a', 'rack-1'), c('b', 'rack-2'), c('c', 'rack-2'), c('d', 'rack-2'))).toEqual(['b', 'c', 'd']);
    expect(chosen(c('a', 'rack-1'), c('b', 'rack-1'))).toEqual(['a', 'b']);
  });

  it('are first of all those to whom it spoke, wherever they are', () => {
    const told = [c('a', 'rack-1', { telling: true }), c('b', 'rack-1', { telling: true })];
    expect(chosen(...told, c('c', 'rack-2'), c('d', 'rack-3'))).toEqual(expect.arrayContaining(['a', 'b']));
  });

  it('are never the host itself, nor one that can look over no network', () => {
    expect(chosen(c('n-1', 'rack-2'), c('b', 'rack-2', { networks: 0 }))).toEqual([]);
  });

  it('can look over as many networks as there are', () => {
    expect(chosen(c('a', 'r', { networks: 1 }), c('b', 'r'), c('d', 'r'), c('e', 'r'))).toEqual(['b', 'd', 'e']);
  });

  it('are the same whatever the order, and each once', () => {
    const candidate = fc.record({
      name: fc.constantFrom('n-1', 'a', 'b', 'd', 'e', 'f'),
      domain: fc.constantFrom('rack-1', 'rack-2', 'rack-3'),
      networks: fc.nat({ max: 2 }),
      telling: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.uniqueArray(candidate, { selector: (x) => x.name }), (all) => {
        const names = chooseObservers(host, all);
        expect(chooseObservers(host, [...all].reverse())).toEqual(names);
        const able = all.filter((x) => x.networks > 0 && x.name !== host.name);
        expect(names.length).toBe(Math.min(ASKED_MOST, able.length));
        expect(new Set(names).size).toBe(names.length);
        const left = able.filter((x) => x.telling && !names.includes(x.name)).length;
        if (left > 0) expect(names.every((n) => able.some((x) => x.name === n && x.telling))).toBe(true);
      }),
    );
  });
});
