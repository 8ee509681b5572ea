import type { IncomingHttpHeaders } from 'node:http';
import { BlockList } from 'node:net';
import { mayBePage } from './foreign-page.js';
import { addressBytes } from './failed-tries.js';
import type { Identity } from './token-file.js';

/** Who sends a request without a token from an open network. No token can have the name: it has a colon. */
export const FROM_OPEN_NETWORK: Identity = { name: 'compat:allowFrom', role: 'operator' };

/** A request's sender, as far as the request itself and its connection tell. */
export interface Sender {
  /** Where it comes from: of a proxy that is trusted, as that says. */
  address: string | undefined;
  /** Other end of the connection. */
  peer: string | undefined;
  headers: IncomingHttpHeaders;
}

/** Headers in which proxies say for whom they ask. */
const FORWARDED = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'] as const;

/** `compat.allowFrom`: networks from which the clusterm surface needs no token, and senders that are in none of them. */
export class OpenNetworks {
  private readonly open: Networks;
  private readonly proxies: Networks;
  private readonly gateways: () => readonly string[];
  private readonly ownNames: readonly string[];

  constructor(o: {
    allowFrom: readonly string[];
    /**
     * Routers of this machine's networks, as they are now: whoever sends through NAT seems to be one. Where it throws,
     * nobody is let in.
     */
    gateways: () => readonly string[];
    /** `http.trustProxy` */
    trustProxy: readonly string[];
    /** Names of this machine, with dots. */
    ownNames: readonly string[];
  }) {
    this.open = new Networks(o.allowFrom);
    this.proxies = new Networks(o.trustProxy);
    this.gateways = o.gateways;
    this.ownNames = o.ownNames;
  }

  /** `why`: the address is of an open network, and yet the sender needs a token. */
  judge({ address, peer, headers }: Sender): { admitted: boolean; why?: string } {
    if (!this.open.has(address)) return { admitted: false };
    const why = this.doubt({ address, peer, headers });
    return why === undefined ? { admitted: true } : { admitted: false, why };
  }

  private doubt({ address, peer, headers }: Sender): string | undefined {
    const gateways = this.routers();
    if (gateways === undefined) return 'the routers of this machine cannot be told';
    if (gateways.has(peer) || gateways.has(address))
      return 'it comes from a router of this network, which may stand for anybody';
    if (!this.proxies.has(peer) && FORWARDED.some((name) => headers[name] !== undefined))
      return 'it comes through a proxy that http.trustProxy does not name';
    if (this.proxies.has(address)) return 'the proxy does not say for whom it asks';
    if (mayBePage(headers, this.ownNames))
      return 'it may be of a page in a browser: a program sends no Origin, and asks for an address, a name without a dot, or this host’s own name';
    return undefined;
  }

  private routers(): Networks | undefined {
    try {
      return new Networks(this.gateways());
    } catch {
      // Who asks is told; with a token everybody is let in as before.
      return undefined;
    }
  }
}

/** Addresses of one family are never found in a network of the other: `::/1` would hold all of IPv4. */
class Networks {
  private readonly ipv4 = new BlockList();
  private readonly ipv6 = new BlockList();

  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address = '', bits] = network.split('/');
      const family = address.includes(':') ? 'ipv6' : 'ipv4';
      this[family].addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
    }
  }

  has(address: string | undefined): boolean {
    const bytes = address === undefined ? undefined : addressBytes(address);
    if (bytes === undefined) return false;
    if (bytes.length === 4) return this.ipv4.check(bytes.join('.'), 'ipv4');
    return this.ipv6.check(
      Buffer.from(bytes)
        .toString('hex')
        .replace(/(.{4})(?=.)/g, '$1:'),
      'ipv6',
    );
  }
}
