import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { MusterError, isLoopback } from '#contracts';

const hostOf = (authority: string): string => authority.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');

/**
 * A web page of a stranger, open in the operator's browser, can send requests to a loopback address. It cannot hide
 * its Origin, and a name of its own that it points to 127.0.0.1 stands in Host: both are refused. Programs send no
 * Origin and are not touched.
 * @throws MusterError FORBIDDEN
 */
export function refuseForeignPage(headers: IncomingHttpHeaders, tokensConfigured: boolean, unix: boolean): void {
  const host = headers.host ?? '';
  if (!tokensConfigured && !unix && !isLoopback(hostOf(host)))
    throw new MusterError('FORBIDDEN', `the host name "${host}" is not this machine's own`);
  const { origin } = headers;
  if (origin === undefined) return;
  if (origin.replace(/^https?:\/\//, '') !== host)
    throw new MusterError('FORBIDDEN', `requests from pages of ${origin} are refused`);
}

/**
 * Whether a page in somebody's browser may have sent it. A page of a stranger, whose own name he lets point here, sends no
 * Origin with a GET: Host shows it, unless that is what no stranger can have. Only an address is, a name without a dot, or
 * one of this machine's own.
 */
export function mayBePage(headers: IncomingHttpHeaders, ownNames: readonly string[]): boolean {
  const { host = '', origin } = headers;
  const name = hostOf(host).toLowerCase();
  return (
    origin !== undefined ||
    comesFromElsewhere(headers) ||
    (isIP(name) === 0 && name.includes('.') && !ownNames.includes(name))
  );
}

/** An image or a form of a stranger's page asks without an Origin; browsers say in another header where it stands. */
function comesFromElsewhere(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return true;
  const { referer, host } = headers;
  return referer !== undefined && !(URL.canParse(referer) && new URL(referer).host === host);
}
