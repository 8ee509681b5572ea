import { isLoopback } from '#contracts/addresses/ip-address.js';
import { UsageFailure } from '../failure/failure.js';

export const DEFAULT_URL = '127.0.0.1:9007';

/** Where requests go, as node:http takes it. */
export interface Address {
  protocol: 'http:' | 'https:';
  /** As shown in messages. */
  text: string;
  host?: string;
  port?: number;
  socketPath?: string;
}

export interface AddressOptions {
  /** A token goes along with each request. */
  hasToken: boolean;
  /** It may go to other machines without TLS: told by name. */
  insecureHttp: boolean;
}

/**
 * Several, with commas: the first that answers is used.
 * @throws UsageFailure, also where some of other machines are https:// and some are not, or a token would be shown to
 * whoever listens on the way
 */
export function parseAddresses(
  text: string,
  o: AddressOptions = { hasToken: false, insecureHttp: false },
): [Address, ...Address[]] {
  const [first = '', ...more] = text.split(',').map((one) => one.trim());
  const addresses: [Address, ...Address[]] = [parseAddress(first), ...more.map(parseAddress)];
  const plain = addresses.find((a) => a.protocol === 'http:' && a.host !== undefined && !isLoopback(a.host));
  if (plain !== undefined && addresses.some((a) => a.protocol === 'https:'))
    throw new UsageFailure(
      `--url ${plain.text}: write https:// here, too: whoever keeps the others from answering would read the token`,
    );
  if (plain !== undefined && o.hasToken && !o.insecureHttp)
    throw new UsageFailure(
      `INSECURE_HTTP: ${plain.text} is another machine, and everybody on the way would read the token of MUSTER_TOKEN: write https:// (http.tls of the gateway, --ca), or say --insecure-http (environment MUSTER_INSECURE_HTTP=true)`,
    );
  return addresses;
}

/** `host:port`, `http(s)://host[:port]`, `unix:/path`. @throws UsageFailure */
export function parseAddress(text: string): Address {
  if (text.startsWith('unix:')) {
    const socketPath = text.slice('unix:'.length);
    if (!socketPath.startsWith('/')) throw new UsageFailure(`--url ${text}: a unix socket needs an absolute path`);
    return { protocol: 'http:', socketPath, text };
  }
  // Nobody is shown what may be a token.
  if (text.includes('@'))
    throw new UsageFailure('--url takes no user and no password: a token is taken from MUSTER_TOKEN');
  const full = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(full))
    throw new UsageFailure(`--url ${text}: expected host:port, http(s)://host:port or unix:/path`);
  const url = new URL(full);
  const protocol = url.protocol as Address['protocol'];
  if (url.pathname !== '/' || url.search !== '') throw new UsageFailure(`--url ${text}: only host and port are taken`);
  const port = url.port !== '' ? Number(url.port) : full === text ? (protocol === 'https:' ? 443 : 80) : 9007;
  return { protocol, host: url.hostname.replace(/^\[|\]$/g, ''), port, text };
}
