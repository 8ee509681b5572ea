import { ipBytes, samePrefix } from '../addresses/ip-address.js';

/**
 * Where no webhook is, and where a cloud tells whoever asks from its machine what the machine's credentials are: the
 * addresses that are good on one link only, and the two that clouds have taken elsewhere. IPv4 is also looked for within
 * IPv6 (mapped, and by NAT64).
 */
const REFUSED = [
  ['169.254.0.0', 16],
  ['fe80::', 10],
  ['fd00:ec2::254', 128],
  ['100.100.100.200', 32],
] as const;

const NO_HOOKS = REFUSED.map(([address, bits]) => ({ bytes: ipBytes(address) ?? [], bits }));
const METADATA_NAME = /^metadata\.google\.internal\.?$/i;

/** @param host of a URL, or an address that its name stands for */
export function isNoHookHost(host: string): boolean {
  if (METADATA_NAME.test(host)) return true;
  const bytes = ipBytes(host.replace(/^\[|\]$/g, '').replace(/%.*$/, ''));
  if (bytes === undefined) return false;
  const forms = bytes.length === 16 && holdsIpv4(bytes) ? [bytes, bytes.slice(12)] : [bytes];
  return forms.some((own) => NO_HOOKS.some((r) => r.bytes.length === own.length && samePrefix(own, r.bytes, r.bits)));
}

/** `::a.b.c.d`, `::ffff:a.b.c.d`, `64:ff9b::a.b.c.d` */
const holdsIpv4 = (bytes: readonly number[]): boolean =>
  ['::', '::ffff:0:0', '64:ff9b::'].some((prefix) => samePrefix(bytes, ipBytes(prefix) ?? [], 96));
