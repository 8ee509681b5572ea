import type { GateResult } from '#contracts';

/** Where the servers of the bus run, as far as it concerns the fleet. A server on a node is called by the node's name. */
export interface BrokerHosts {
  /** Servers that are there now. */
  servers: string[];
  /** How many belong to the cluster: those that are gone already count in its majority. */
  total: number;
  onThisNode: string[];
  doubtful: string[];
  /** Names of several servers that stand for no known address: any of them may be on this node. */
  unresolved: string[];
}

/** Do more than half of the servers stay without this node, and without those that are in doubt? */
export function brokerMajority(b: BrokerHosts): Pick<GateResult, 'pass' | 'detail'> {
  if (b.unresolved.length > 0)
    return {
      pass: false,
      detail: `It is not known at which address these servers of the bus are: ${b.unresolved.join(', ')}.`,
    };
  const left = b.servers.length - new Set([...b.onThisNode, ...b.doubtful]).size;
  const text = `${left} of ${b.total} servers of the bus stay without it`;
  return b.onThisNode.length === 0 || left > b.total / 2
    ? { pass: true, detail: `${text}.` }
    : { pass: false, detail: `${text}: no majority.` };
}
