import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { userInfo } from 'node:os';
import { Failure } from '../failure/failure.js';
import type { Address } from './address.js';

/** No answer at all: the server is not there. */
export class NoServer extends Failure {
  /** The request may be there all the same: a connection was made. */
  mayHaveArrived = false;
}

/** The connection broke: no answer either, but the request may have arrived. */
export class BrokenOff extends NoServer {
  override mayHaveArrived = true;
}

/** One request, to one address. */
export interface Asking {
  method: string;
  path: string;
  body?: string | undefined;
  headers?: Record<string, string>;
  token?: string | undefined;
  /** PEM: trusted in the place of the authorities that Node trusts. */
  ca?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Until the connection is there, ms: a machine that is off answers nothing. */
  connectLimitMs: number;
  /** From then on until an answer begins, ms. */
  answerLimitMs: number;
}

/** Resolves when the answer begins. @throws NoServer */
export function ask(address: Address, o: Asking): Promise<IncomingMessage> {
  const { protocol, host, port, socketPath } = address;
  const options = {
    method: o.method,
    path: o.path,
    ...(socketPath !== undefined ? { socketPath } : { host, port }),
    ...(o.signal !== undefined && { signal: o.signal }),
    ...(o.ca !== undefined && { ca: o.ca }),
    agent: false as const,
    timeout: o.connectLimitMs,
    headers: {
      'x-muster-user': user(),
      ...(o.token !== undefined && { authorization: `Bearer ${o.token}` }),
      ...(o.body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(o.body) }),
      ...o.headers,
    },
  };
  return new Promise((resolve, reject) => {
    const make = protocol === 'https:' ? httpsRequest : httpRequest;
    let limit = options.timeout;
    let isConnected = false;
    const request = make(options, (answer) => {
      request.setTimeout(0);
      resolve(answer);
    });
    request.once('socket', (socket) =>
      socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        isConnected = true;
        limit = o.answerLimitMs;
        socket.setTimeout(limit);
      }),
    );
    request.on('timeout', () => request.destroy(new Error(`no answer in ${limit / 1000} s`)));
    request.on('error', (cause) => reject(noAnswer(address, cause, isConnected)));
    request.end(o.body);
  });
}

function noAnswer({ text }: Address, cause: NodeJS.ErrnoException, isConnected: boolean): NoServer {
  if (isConnected && (cause.code === 'ECONNRESET' || cause.code === 'EPIPE'))
    return new BrokenOff(`the connection to ${text} broke: ${cause.message}`);
  return Object.assign(new NoServer(`no Muster at ${text}: ${explain(cause)}`), { mayHaveArrived: isConnected });
}

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|CERT_/;

function explain({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EPROTO') return 'it does not speak https: write http:// (--url, MUSTER_URL)';
  if (code?.startsWith('HPE_') === true) return 'it does not speak http: write https:// (--url, MUSTER_URL)';
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired, by the clock of this machine';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `its certificate does not name this address: ${message}`;
  if (code !== undefined && UNTRUSTED.test(code))
    return `its certificate is not trusted (${code}): name its authority's by --ca FILE or MUSTER_CA`;
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return 'nothing listens there; is it running? (--url, MUSTER_URL)';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'this host name is not known';
  if (code === 'EACCES') return 'permission denied';
  return message;
}

/** For the record of a server without tokens; it cannot check it. */
function user(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry in passwd has no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
