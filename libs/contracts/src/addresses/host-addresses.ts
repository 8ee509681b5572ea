import { MusterError } from '../errors/errors.js';
import { ipBytes, samePrefix } from './ip-address.js';

/** An address that a host has, and the interface that has it. */
export interface HostAddress {
  interface: string;
  address: string;
}

/** Also where the two are written differently: `fd00::1`, `fd00:0:0::1`. */
export function sameAddress(a: string, b: string): boolean {
  const [one, other] = [ipBytes(a), ipBytes(b)];
  if (one === undefined || one.length !== other?.length) return a === b;
  return samePrefix(one, other, 128);
}

/**
 * The host's addresses at `where`: an interface, a CIDR such as `10.1.0.0/16`, or an address. Of an interface, those that
 * hold on one link only are left out: they name no host.
 * @throws BAD_REQUEST where it looks like a CIDR and is none
 */
export const addressesAt = (where: string, addresses: readonly HostAddress[]): string[] =>
  addresses.filter((a) => isAt(a, where)).map((a) => a.address);

function isAt(a: HostAddress, where: string): boolean {
  if (ipBytes(where) !== undefined) return sameAddress(a.address, where);
  const cidr = /^([0-9A-Fa-f:.]+)\/(\d{1,3})$/.exec(where);
  if (cidr === null) return a.interface === where && !/^fe80:/i.test(a.address);
  const [network, own] = [ipBytes(cidr[1] ?? ''), ipBytes(a.address)];
  const bits = Number(cidr[2]);
  if (network === undefined || bits > 8 * network.length)
    throw new MusterError('BAD_REQUEST', `${where} is not a network`);
  return own?.length === network.length && samePrefix(own, network, bits);
}
