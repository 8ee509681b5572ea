import { describe, expect, it } from 'vitest';
import { defaultHostGroups, MusterError, type NodeReplaceRequest } from '#contracts';
import { aNode } from '../testing/fixtures.js';
import { replacement } from './replacement.js';

const device = (address: string) => ({ id: 'bmc', driver: 'ipmitool', address, port: 623 });
const on = (address: string) => ({ management: { address } });
const old = aNode('a-1', { label: 'a', networks: on('10.0.0.1'), powerLevels: [[device('10.2.0.1')]] });
const other = aNode('b-1', { label: 'b', networks: on('10.0.0.2'), powerLevels: [[device('10.2.0.2')]] });

const answer = (o: Partial<NodeReplaceRequest>): string => {
  const facts = { nodes: [old, other], groups: defaultHostGroups, offered: () => ['ansible', 'ipmitool'] };
  try {
    const { changes } = replacement(old, { serial: '2', ...o }, facts, 1, 'n1', 'ann');
    return changes.map((c) => c.kind).join(', ');
  } catch (e) {
    const { code, message } = MusterError.from(e);
    return `${code} ${message}`;
  }
};

describe('new hardware in the place of a node', () => {
  it('keeps the addresses and the power device that the old one had, though that is on record still', () => {
    expect(answer({})).toBe('create, delete');
  });

  it('is refused with a power device, or an address, of another node, which is named', () => {
    expect(answer({ powerLevels: [[device('10.2.0.2')]] })).toMatch(
      /^ALREADY_EXISTS power device bmc is at 10\.2\.0\.2:623, where node b-1 has its power device bmc/,
    );
    expect(answer({ networks: on('10.0.0.2') })).toMatch(/^ALREADY_EXISTS .*b-1/);
  });
});
