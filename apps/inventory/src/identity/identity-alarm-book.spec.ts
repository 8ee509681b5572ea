import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '#contracts/testing/chance.js';
import type { NodeRecord } from '#contracts';
import { aDevice, aNode } from '../testing/records.js';
import { IdentityAlarmBook } from './identity-alarm-book.js';
import { identityAlarms } from './identity-alarms.js';

const node = (n: number, address: string): NodeRecord =>
  aNode(`n-${n}`, { powerLevels: [[{ ...aDevice(), address }]] });
const ADDRESSES = ['10.0.0.1', '10.0.0.2'];

describe('alarms of power devices', () => {
  it('are those of the last comparison while names stand for the same', () => {
    const sut = new IdentityAlarmBook([node(1, '10.0.0.1'), node(2, '10.0.0.1')]);
    const first = sut.of((name) => [name]);
    expect(first.map((a) => a.subject)).toEqual(['n-1', 'n-2']);
    expect(sut.of((name) => [name])).toBe(first);
  });

  it('ask for every name at each look, and follow what it stands for', () => {
    const sut = new IdentityAlarmBook([node(1, 'bmc-a'), node(2, 'bmc-b')]);
    const known = new Map([['bmc-a', ['10.0.0.1']]]);
    let asked: string[] = [];
    const look = (): string[] => {
      asked = [];
      return sut
        .of((name) => {
          asked.push(name);
          return known.get(name);
        })
        .map((a) => a.subject);
    };
    expect([look(), look(), asked]).toEqual([[], [], ['bmc-a', 'bmc-b']]);
    known.set('bmc-b', ['10.0.0.1']);
    expect([look(), look(), asked]).toEqual([
      ['n-1', 'n-2'],
      ['n-1', 'n-2'],
      ['bmc-a', 'bmc-b'],
    ]);
    known.delete('bmc-a');
    expect(look()).toEqual([]);
  });

  it('are the same as by comparing all at each look, whatever names stand for between two', () => {
    const change = fc.record({
      name: fc.constantFrom('bmc-a', 'bmc-b'),
      means: fc.option(fc.constantFrom(...ADDRESSES), { nil: undefined }),
    });
    const addresses = fc.array(fc.constantFrom(...ADDRESSES, 'bmc-a', 'bmc-b'), { maxLength: 4 });
    fc.assert(
      fc.property(addresses, fc.array(change, { maxLength: 30 }), (at, changes) => {
        const nodes = at.map((address, n) => node(n, address));
        const sut = new IdentityAlarmBook(nodes);
        const known = new Map<string, string[]>();
        for (const { name, means } of changes) {
          if (means === undefined) known.delete(name);
          else known.set(name, [means]);
          const of = (asked: string) => known.get(asked);
          expect(sut.of(of)).toEqual(identityAlarms(nodes, of));
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
