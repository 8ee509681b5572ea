import { addressesAt, MANAGEMENT, MusterError, NAME_PATTERN, sameAddress, type Networks } from '#contracts';
import type { HostFacts } from './host-facts.js';

/** Name of the variable that says which other networks a new node has: name → interface or CIDR on the node. */
export const NETWORKS_VARIABLE = 'muster_agent_networks';

/**
 * The networks of a host that was reached at `management`, with its own addresses on them.
 * @throws BAD_REQUEST where it has not exactly one address on each
 */
export function hostNetworks(management: string, wanted: unknown, addresses: HostFacts['addresses']): Networks {
  if (!addresses.some((a) => sameAddress(a.address, management)))
    throw refused(`${management} is not an address of the host itself: an agent cannot listen there`);
  const networks: Networks = { [MANAGEMENT]: { address: management } };
  for (const [name, where] of Object.entries(readWanted(wanted))) {
    if (name === MANAGEMENT) continue;
    const found = addressesAt(where, addresses);
    if (found.length !== 1)
      throw refused(
        `${found.length === 0 ? 'no address' : `${found.length} addresses (${found.join(' ')})`} of the host on ${where}, ` +
          `which ${NETWORKS_VARIABLE} has for the network ${name}`,
      );
    networks[name] = { address: found[0]! };
  }
  return networks;
}

function readWanted(wanted: unknown): Record<string, string> {
  if (wanted === undefined || wanted === null) return {};
  const isMapping = typeof wanted === 'object' && !Array.isArray(wanted);
  const entries = isMapping ? Object.entries(wanted) : [];
  const good = entries.every(([name, where]) => NAME_PATTERN.test(name) && typeof where === 'string' && where !== '');
  if (!isMapping || entries.length > 4 || !good)
    throw refused(
      `${NETWORKS_VARIABLE} maps names of networks to an interface or a CIDR, such as {"backend": "10.1.0.0/16"}`,
    );
  return Object.fromEntries(entries) as Record<string, string>;
}

const refused = (message: string): MusterError => new MusterError('BAD_REQUEST', message);
