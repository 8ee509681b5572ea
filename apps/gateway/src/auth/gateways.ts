import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import type { Logger } from 'pino';
import { MusterError } from '#contracts';

/** RTF_GATEWAY of the kernel: behind the route stands a router. */
const HAS_GATEWAY = 0x2;

const wrong = (file: string, line: string): MusterError =>
  new MusterError('CONFIG_INVALID', `${file}: a line is not understood: "${line}"`);

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

/**
 * Routers by `/proc/net/route`: `Iface Destination Gateway Flags …`, its addresses as hex numbers of this machine.
 * @throws MusterError CONFIG_INVALID for a line that is none of it
 */
export function gateways4(text: string, order: 'LE' | 'BE'): string[] {
  return linesOf(text)
    .slice(1)
    .flatMap((line) => {
      const [, gateway, flags] = /^\S+\s+[0-9A-F]{8}\s+([0-9A-F]{8})\s+([0-9A-F]{4})\s/.exec(line) ?? [];
      if (gateway === undefined || flags === undefined) throw wrong('/proc/net/route', line);
      const bytes = [...Buffer.from(gateway, 'hex')];
      if (order === 'LE') bytes.reverse();
      return parseInt(flags, 16) & HAS_GATEWAY ? [bytes.join('.')] : [];
    });
}

/**
 * Routers by `/proc/net/ipv6_route`: destination, source and next hop with their lengths, metric, counters, flags, device.
 * @throws MusterError CONFIG_INVALID for a line that is none of it
 */
export function gateways6(text: string): string[] {
  return linesOf(text).flatMap((line) => {
    const [, hop, flags] =
      /^[0-9a-f]{32} [0-9a-f]{2} [0-9a-f]{32} [0-9a-f]{2} ([0-9a-f]{32})(?: [0-9a-f]{8}){3} ([0-9a-f]{8})\s/.exec(
        line,
      ) ?? [];
    if (hop === undefined || flags === undefined) throw wrong('/proc/net/ipv6_route', line);
    return parseInt(flags, 16) & HAS_GATEWAY ? [(hop.match(/.{4}/g) ?? []).join(':')] : [];
  });
}

/**
 * The routers of this machine's, or container's, networks. What is translated on its way (NAT), as by the bridge of a
 * container, comes from such an address, whoever sent it.
 * @throws MusterError CONFIG_INVALID where the kernel does not tell them
 */
export function readGateways(folder = '/proc/net'): string[] {
  return [...gateways4(read(`${folder}/route`), endianness()), ...gateways6(readIfThere(`${folder}/ipv6_route`))];
}

/** How old what is known of the routers may be when it is asked for, ms. */
const FRESH_MS = 1_000;

/** The routers as they are now: a route may come with a lease of DHCP, a tunnel or a bridge, long after the start. */
export class Gateways {
  private known: readonly string[];
  private readAt: number;

  /** @throws MusterError CONFIG_INVALID, as `read` */
  constructor(
    private readonly o: {
      log: Pick<Logger, 'warn'>;
      /** Monotonic, ms. */
      now: () => number;
      /** @default the kernel's own tables */
      read?: () => string[];
    },
  ) {
    this.known = this.read();
    this.readAt = o.now();
  }

  /** @throws MusterError CONFIG_INVALID where the kernel does not tell them any more */
  current(): readonly string[] {
    const now = this.o.now();
    if (now - this.readAt < FRESH_MS) return this.known;
    const before = this.known;
    this.known = this.read();
    this.readAt = now;
    if (this.known.join() !== before.join())
      this.o.log.warn({ never: this.known }, 'compat.allowFrom: the routers of this machine have changed');
    return this.known;
  }

  private read(): string[] {
    return [...new Set((this.o.read ?? readGateways)())].sort();
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new MusterError(
      'CONFIG_INVALID',
      `compat.allowFrom: whose requests come through a router cannot be told, since ${file} cannot be read: ${(cause as Error).message}`,
      {},
      { cause },
    );
  }
}

/** A kernel without IPv6 has no such file. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    return read(file);
  }
}
