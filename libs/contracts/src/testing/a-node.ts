import type { NodeRecord } from '../node/node.js';

/** A healthy node for specs: Allocated and Discovered unless said otherwise; its name is `<label>-<serial>`. */
export function aNode(name: string, o: Partial<NodeRecord> = {}): NodeRecord {
  const [label = name, serial = '1'] = name.split('-');
  return {
    name,
    label,
    serial,
    failureDomain: 'default',
    networks: { management: { address: '10.0.0.1' } },
    powerLevels: [],
    provisionDriver: 'ansible',
    vars: {},
    fencing: 'auto',
    enrolled: true,
    status: 'Allocated',
    prevStatus: 'Provisioning',
    state: 'Discovered',
    prevState: 'Unknown',
    createdAt: 1,
    ...o,
  };
}
