/** The bytes of an IP address, 4 or 16; undefined: it is none. Without a zone, which holds on one host only. */
export function ipBytes(text: string): number[] | undefined {
  if (!text.includes(':')) return ipv4Bytes(text);
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  if (dotted === null) return ipv6Bytes(text);
  const last = ipv4Bytes(dotted[2] ?? '');
  if (last === undefined) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = last;
  return ipv6Bytes(`${dotted[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`);
}

function ipv4Bytes(text: string): number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte < 256) ? bytes : undefined;
}

function ipv6Bytes(text: string): number[] | undefined {
  const [head = '', tail, more] = text.split('::');
  const left = groupsOf(head);
  const right = groupsOf(tail ?? '');
  if (left === undefined || right === undefined || more !== undefined) return undefined;
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const zeros = Array.from({ length: missing }, () => 0);
  return [...left, ...zeros, ...right].flatMap((group) => [group >> 8, group & 0xff]);
}

function groupsOf(text: string): number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':');
  return groups.every((g) => /^[0-9A-Fa-f]{1,4}$/.test(g)) ? groups.map((g) => parseInt(g, 16)) : undefined;
}

/** `host:port` as in a URL: an IPv6 address in brackets, a name or an IPv4 address as it is. */
export const atPort = (host: string, port: number | string): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** A host name or an address by which a machine reaches itself alone; one of IPv6 also in the brackets of a URL. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

/** An IPv4 address in the clothes of IPv6 (`::ffff:10.0.0.7`) as the four bytes that it is; any other as it came. */
export function unmapped(bytes: number[]): number[] {
  const isMapped = bytes.length === 16 && samePrefix(bytes, MAPPED, 96);
  return isMapped ? bytes.slice(12) : bytes;
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** Whether the first `bits` of the two are the same. */
export function samePrefix(a: readonly number[], b: readonly number[], bits: number): boolean {
  return a.every((byte, i) => {
    const rest = Math.min(8, Math.max(0, bits - 8 * i));
    const mask = (0xff << (8 - rest)) & 0xff;
    return (byte & mask) === ((b[i] ?? 0) & mask);
  });
}
