import { MANAGEMENT } from './addresses/networks.js';
import type { NodeRecord } from './node/node.js';

/** A node as clients of the contiv cluster manager know it; the HTTP surface answers it and the CLI prints it. */
export interface ClustermNode {
  monitoring_state: { label: string; serial_number: string; management_address: string };
  inventory_state: { name: string; status: string; prev_status: string; state: string; prev_state: string };
  configuration_state: {
    inventory_name: string;
    host_group: string;
    ssh_address: string;
    inventory_vars: { node_addr: string; node_name: string };
  };
}

export function clustermNode(node: NodeRecord): ClustermNode {
  const address = node.networks[MANAGEMENT]?.address ?? '';
  return {
    monitoring_state: { label: node.label, serial_number: node.serial, management_address: address },
    inventory_state: {
      name: node.name,
      status: node.status,
      prev_status: node.prevStatus,
      state: node.state,
      prev_state: node.prevState,
    },
    configuration_state: {
      inventory_name: node.name,
      host_group: node.hostGroup ?? '',
      ssh_address: address,
      inventory_vars: { node_addr: address, node_name: node.name },
    },
  };
}
