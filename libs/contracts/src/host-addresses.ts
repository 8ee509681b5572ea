import { BlockList, isIP } from 'node:net';
import { MusterError } from './errors.js';

/** An address that a host has, and the interface that has it. */
export interface HostAddress {
  interface: string;
  address: string;
}

/** Also where the two are written differently: `fd00::1`, `fd00:0:0::1`. */
export function sameAddress(a: string, b: string): boolean {
  const [family, other] = [isIP(a), isIP(b)];
  if (family === 0 || family !== other) return a === b;
  const list = new BlockList();
  list.addAddress(a, `ipv${family as 4 | 6}`);
  return list.check(b, `ipv${family as 4 | 6}`);
}

/**
 * The host's addresses at `where`: an interface, a CIDR such as `10.1.0.0/16`, or an address. Of an interface, those that
 * hold on one link only are left out: they name no host.
 * @throws BAD_REQUEST where it looks like a CIDR and is none
 */
export const addressesAt = (where: string, addresses: readonly HostAddress[]): string[] =>
  addresses.filter((a) => isAt(a, where)).map((a) => a.address);

function isAt(a: HostAddress, where: string): boolean {
  if (isIP(where) !== 0) return sameAddress(a.address, where);
  const cidr = /^([0-9A-Fa-f:.]+)\/(\d{1,3})$/.exec(where);
  if (cidr === null) return a.interface === where && !/^fe80:/i.test(a.address);
  const family = isIP(cidr[1]!);
  if (family === 0 || Number(cidr[2]) > (family === 4 ? 32 : 128))
    throw new MusterError('BAD_REQUEST', `${where} is not a network`);
  if (isIP(a.address) !== family) return false;
  const list = new BlockList();
  list.addSubnet(cidr[1]!, Number(cidr[2]), `ipv${family as 4 | 6}`);
  return list.check(a.address, `ipv${family as 4 | 6}`);
}
