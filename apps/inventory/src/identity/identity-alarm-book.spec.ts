import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '#contracts/testing/chance.js';
import type { NodeRecord } from '#contracts';
import { aDevice, aNode } from '../testing/records.js';
import { IdentityAlarmBook } from './identity-alarm-book.js';
import { identityAlarms } from './identity-alarms.js';

const node = (n: number, address: string, o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode(`n-${n}`, { powerLevels: [[{ ...aDevice(), address }]], ...o });
const ADDRESSES = ['10.0.0.1', '10.0.0.2', 'bmc-a', 'bmc-b'];

describe('alarms of power devices', () => {
  it('are those of the last look, by no further comparison, while nothing is new', () => {
    const sut = new IdentityAlarmBook();
    const nodes = [node(1, '10.0.0.1'), node(2, '10.0.0.1')];
    const first = sut.of(nodes, (name) => [name]);
    expect(first.map((a) => a.subject)).toEqual(['n-1', 'n-2']);
    expect(sut.of([...nodes], (name) => [name])).toBe(first);
    expect(sut.of([nodes[0]!, node(2, '10.0.0.2')], (name) => [name])).toEqual([]);
  });

  it('ask for every name at each look, and follow what it stands for', () => {
    const sut = new IdentityAlarmBook();
    const nodes = [node(1, 'bmc-a'), node(2, 'bmc-b')];
    const known = new Map([['bmc-a', ['10.0.0.1']]]);
    let asked: string[] = [];
    const look = (): string[] => {
      asked = [];
      return sut
        .of(nodes, (name) => {
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

  it('are the same as by comparing all at each look, whatever changes between two', () => {
    const change = fc.record({
      node: fc.nat(3),
      address: fc.constantFrom(...ADDRESSES),
      name: fc.constantFrom('bmc-a', 'bmc-b'),
      means: fc.option(fc.constantFrom(...ADDRESSES.slice(0, 2)), { nil: undefined }),
      of: fc.constantFrom('record', 'gone', 'name', 'nothing'),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const sut = new IdentityAlarmBook();
        const nodes = new Map([0, 1, 2].map((n) => [n, node(n, ADDRESSES[n]!)]));
        const known = new Map<string, string[]>();
        for (const c of changes) {
          if (c.of === 'record') nodes.set(c.node, node(c.node, c.address));
          if (c.of === 'gone') nodes.delete(c.node);
          if (c.of === 'name' && c.means !== undefined) known.set(c.name, [c.means]);
          if (c.of === 'name' && c.means === undefined) known.delete(c.name);
          const [all, of] = [[...nodes.values()], (name: string) => known.get(name)];
          expect(sut.of(all, of)).toEqual(identityAlarms(all, of));
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
