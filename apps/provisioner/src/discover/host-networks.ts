import { BlockList, isIP } from 'node:net';
import { MANAGEMENT, MusterError, NAME_PATTERN, type Networks } from '#contracts';
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
    const found = addresses.filter((a) => isOn(a, where)).map((a) => a.address);
    if (found.length !== 1)
      throw refused(
        `${found.length === 0 ? 'no address' : `${found.length} addresses (${found.join(' ')})`} of the host on ${where}, ` +
          `which ${NETWORKS_VARIABLE} has for the network ${name}`,
      );
    networks[name] = { address: found[0]! };
  }
  return networks;
}

/** Also where the two are written differently: `fd00::1`, `fd00:0:0::1`. */
export function sameAddress(a: string, b: string): boolean {
  const [family, other] = [isIP(a), isIP(b)];
  if (family === 0 || family !== other) return a === b;
  const list = new BlockList();
  list.addAddress(a, `ipv${family as 4 | 6}`);
  return list.check(b, `ipv${family as 4 | 6}`);
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

/** `where`: `10.1.0.0/16`, or the name of an interface. Addresses that hold on one link only name no host. */
function isOn(a: HostFacts['addresses'][number], where: string): boolean {
  const cidr = /^([0-9A-Fa-f:.]+)\/(\d{1,3})$/.exec(where);
  if (cidr === null) return a.interface === where && !/^fe80:/i.test(a.address);
  const family = isIP(cidr[1]!);
  if (family === 0 || Number(cidr[2]) > (family === 4 ? 32 : 128)) throw refused(`${where} is not a network`);
  if (isIP(a.address) !== family) return false;
  const list = new BlockList();
  list.addSubnet(cidr[1]!, Number(cidr[2]), `ipv${family as 4 | 6}`);
  return list.check(a.address, `ipv${family as 4 | 6}`);
}

const refused = (message: string): MusterError => new MusterError('BAD_REQUEST', message);
