import { describe, expect, it } from 'vitest';
import { identityBasis, type NodeRecord, type PowerDevice, type PowerIdentity } from '#contracts';
import { aNode } from '../testing/records.js';
import { fenceableView } from './fenceable.js';

const device = (id: string): PowerDevice => ({ id, driver: 'ipmitool', address: `10.2.0.${id.length}` });
const node = (name: string, found: Record<string, Partial<PowerIdentity> | undefined>, o: Partial<NodeRecord> = {}) => {
  const devices = Object.keys(found).map(device);
  const powerIdentity: Record<string, PowerIdentity> = {};
  for (const d of devices)
    if (found[d.id]) powerIdentity[d.id] = { result: 'unproven', at: 1, basis: identityBasis(d), ...found[d.id] };
  return aNode(name, { powerLevels: devices.map((d) => [d]), powerIdentity, ...o });
};
const proven = { result: 'proven', by: 'guid' } as const;
const acknowledged = { by: 'ann', why: 'w', at: 1 };

describe('what status says of power devices', () => {
  it('counts a node by the worst of its devices, and only those that would be fenced', () => {
    const nodes = [
      node('a-1', { bmc: proven }),
      node('b-1', { bmc: { result: 'proven', by: 'drill' } }),
      node('c-1', { bmc: proven, pdu: undefined }),
      node('d-1', { bmc: { result: 'mismatch' }, pdu: proven }),
      node('e-1', { bmc: { result: 'mismatch', acknowledged } }),
      node('f-1', { bmc: { ...proven, basis: 'as it was before an edit' } }),
      node('g-1', { bmc: proven }),
      node('h-1', {}),
      node('i-1', { bmc: { result: 'mismatch' } }, { fencing: 'manual' }),
    ];
    expect(fenceableView(nodes, (n) => n.name === 'g-1')).toEqual({
      proven: 2,
      unproven: 3,
      drilled: 1,
      mismatch: ['d-1', 'g-1'],
    });
  });
});
