import { ipBytes, samePrefix, unmapped } from '#contracts/addresses/ip-address.js';

/**
 * What keeps `value` from being an address or a CIDR; undefined: it is one. Nobody means everybody: a network without a
 * bit of its own is refused.
 */
export function networkFault(value: unknown): string | undefined {
  const network = readNetwork(value);
  if (network === undefined)
    return `${JSON.stringify(value)} is neither an address nor a CIDR, such as 10.9.0.1 or 10.9.0.0/24`;
  return network.bits === 0 ? `${JSON.stringify(value)} is everybody` : undefined;
}

/** Of a network that opens something: one spelling, and no bits of which it is not sure that they were meant. */
export function exactNetworkFault(value: unknown): string | undefined {
  const fault = networkFault(value);
  const network = readNetwork(value);
  if (fault !== undefined || network === undefined) return fault;
  const { bytes, bits } = network;
  if (unmapped(bytes) !== bytes) return `${JSON.stringify(value)} is IPv4: write it as such`;
  const own = bytes.map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * i))));
  if (samePrefix(bytes, own, 8 * bytes.length)) return undefined;
  const whole = bytes.length === 4 ? `: write ${own.join('.')}/${bits}` : '';
  return `${JSON.stringify(value)} has bits behind its prefix${whole}`;
}

function readNetwork(value: unknown): { bytes: number[]; bits: number } | undefined {
  if (typeof value !== 'string') return undefined;
  const [, address = '', length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(value) ?? [];
  const bytes = ipBytes(address);
  if (bytes === undefined) return undefined;
  const bits = length === undefined ? 8 * bytes.length : Number(length);
  return bits <= 8 * bytes.length ? { bytes, bits } : undefined;
}
