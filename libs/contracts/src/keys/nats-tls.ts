import { X509Certificate } from 'node:crypto';
import { ipBytes } from '../addresses/ip-address.js';

/** TLS settings of a NATS client, in the words of `node:tls`. */
export interface NatsTls {
  /** PEM; one or more certificates, each of which may have signed the server's. */
  ca: string;
  checkServerIdentity: (host: string, shown: { raw: Uint8Array }) => Error | undefined;
}

/**
 * With a CA: TLS or no connection, also where somebody on the way says that the server has none. Without: never TLS.
 *
 * A certificate must name one of `servers`, not exactly the one that was dialled: the client library does not tell which
 * one that is, and for an IP address Node would ask for the name `localhost`.
 */
export const natsTls = (ca: string | undefined, servers: readonly string[]): { tls: NatsTls | null } => ({
  tls: ca === undefined ? null : { ca, checkServerIdentity: (_, shown) => foreignName(shown.raw, servers) },
});

function foreignName(der: Uint8Array, servers: readonly string[]): Error | undefined {
  const shown = new X509Certificate(der);
  const hosts = servers.map(hostOfServer);
  const named = hosts.some((host) => namesHost(shown, host));
  return named ? undefined : new Error(`${OTHER_NAME} (it names ${shown.subjectAltName ?? 'nobody'})`);
}

/** Whether a certificate names this address or host name. */
export const namesHost = (shown: X509Certificate, host: string): boolean =>
  (ipBytes(host) === undefined ? shown.checkHost(host) : shown.checkIP(host)) !== undefined;

const OTHER_NAME = 'the certificate does not name the server';

/** How a server of NATS is named to its clients. */
export const NATS_URL = /^(nats|tls):\/\/[^\s,]+$/;

/** `nats://10.0.0.1:4222`, `tls://[::1]` → host, without brackets. */
export const hostOfServer = (server: string): string => {
  const address = server.replace(/^[a-z]+:\/\//, '').replace(/^[^@]*@/, '');
  return /^\[([^\]]*)\]/.exec(address)?.[1] ?? address.replace(/:\d+$/, '');
};

/** Which of these servers other machines, or what stands between them, can listen in on. */
export const beyondLoopback = (servers: readonly string[]): string[] =>
  servers.filter((server) => !/^(localhost|127(\.\d{1,3}){3}|::1)$/.test(hostOfServer(server)));

const faults: readonly [RegExp, (hasCa: boolean) => string][] = [
  [
    /certificate has expired/i,
    () => 'its certificate has expired, by the clock of this machine: run "muster tls renew" on the control machine',
  ],
  [
    /certificate is not yet valid/i,
    () => 'its certificate is not valid yet, by the clock of this machine: set the clock',
  ],
  [
    new RegExp(OTHER_NAME),
    () => 'its certificate does not name this address: run "muster tls renew --host ADDRESS" on the control machine',
  ],
  [
    /self.signed certificate|unable to (verify|get)|certificate signature failure|unsuitable certificate/i,
    (hasCa) =>
      hasCa
        ? 'its certificate is signed by another CA than the one in the credentials: take them from the same "muster init"'
        : 'it asks for TLS, and the credentials hold no CA: take them anew from "muster init", or enrol the agent again',
  ],
  [
    /does not support 'tls'/i,
    () => 'it offers no TLS, and the credentials ask for it: start it with the nats.conf of "muster init"',
  ],
  [
    /secure connection|TLS required|'this.options.tls' as it is null/i,
    () =>
      'it asks for TLS, and the credentials hold no CA: take them anew from "muster init", or enrol the agent again',
  ],
];

/** What is wrong between client and server, and what to do: half a sentence. Undefined: it is nothing about TLS. */
export function tlsFault(error: unknown, ca: string | undefined): string | undefined {
  for (let e = error, depth = 0; isFailure(e) && depth < 4; e = e.cause, depth++)
    for (const [pattern, text] of faults) if (pattern.test(e.message)) return text(ca !== undefined);
  return undefined;
}

const isFailure = (e: unknown): e is { message: string; cause?: unknown } =>
  typeof e === 'object' && e !== null && typeof (e as { message?: unknown }).message === 'string';
