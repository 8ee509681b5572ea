import { randomUUID } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { userInfo } from 'node:os';
import { Failure } from '../failure/failure.js';
import type { Address } from './address.js';

/** A server that takes longer for anything but a stream is taken for dead, ms. */
const ANSWER_LIMIT_MS = 30_000;
/** The same while it has not even taken the connection, and there are others to ask, ms. */
const CONNECT_LIMIT_MS = 3_000;

/** A refusal of the server, with its stable code and the facts beside it where it gave some. */
export class Refusal extends Failure {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string | undefined,
    readonly facts: Record<string, unknown> = {},
    /** As it stood on the wire. */
    readonly wire: { statusLine: string; body: string } = { statusLine: String(status), body: message },
  ) {
    super(message);
    this.name = 'Refusal';
  }
}

/** No answer at all: the server is not there. */
export class NoServer extends Failure {
  /** The request may be there all the same: a connection was made. */
  mayHaveArrived = false;
}

/** The connection broke: no answer either, but the request may have arrived. */
export class BrokenOff extends NoServer {
  override mayHaveArrived = true;
}

/** Muster's HTTP API: all that this program knows of a cluster comes from here. */
export class Server {
  /** Index of the address that is asked first: the one that answered last. */
  private at = 0;

  /**
   * @param addresses of one cluster: the first that answers is used, and asked from then on
   * @param ca PEM: trusted in the place of the authorities that Node trusts
   */
  constructor(
    private readonly addresses: readonly [Address, ...Address[]],
    private readonly token: string | undefined,
    private readonly ca?: string,
  ) {}

  private get address(): Address {
    return this.addresses[this.at] ?? this.addresses[0];
  }

  get<T>(path: string): Promise<T> {
    return this.exchange<T>('GET', path);
  }

  /**
   * By its key the server carries it out once, also where a connection that breaks makes us ask a second time, or a
   * proxy on the way sends it twice.
   * @throws Refusal, NoServer
   */
  async post<T>(path: string, body: unknown = {}): Promise<T> {
    const once = { 'idempotency-key': randomUUID() };
    try {
      return await this.exchange<T>('POST', path, body, once);
    } catch (error) {
      // Only /v1 knows keys.
      if (!(error instanceof BrokenOff) || !path.startsWith('/v1/')) throw error;
      return this.exchange<T>('POST', path, body, once);
    }
  }

  /** The answer as it stands on the wire. @throws Refusal, NoServer */
  async text(path: string): Promise<string> {
    const answer = await this.open('GET', path);
    const text = await this.textOf(answer);
    if ((answer.statusCode ?? 0) >= 400) throw this.refusal(answer, text);
    return text;
  }

  /** @throws Refusal, NoServer */
  async exchange<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
    const answer = await this.open(method, path, body === undefined ? undefined : JSON.stringify(body), headers);
    const text = await this.textOf(answer);
    if ((answer.statusCode ?? 0) >= 400) throw this.refusal(answer, text);
    return (text === '' ? {} : this.parsed(text)) as T;
  }

  /** All items of a list, page by page. */
  async all<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    let next: string | undefined;
    do {
      const cursor: string = next === undefined ? '' : `&cursor=${encodeURIComponent(next)}`;
      const page: { items: T[]; next?: string } = await this.get(
        `${path}${path.includes('?') ? '&' : '?'}limit=1000${cursor}`,
      );
      items.push(...page.items);
      next = page.next;
    } while (next !== undefined);
    return items;
  }

  /** An answer that goes on: a log, events. @throws Refusal, NoServer; also in the middle, when it breaks off. */
  async *stream(path: string, headers: Record<string, string> = {}, signal?: AbortSignal): AsyncGenerator<string> {
    const answer = await this.open('GET', path, undefined, headers, signal);
    if ((answer.statusCode ?? 0) >= 400) throw this.refusal(answer, await this.textOf(answer));
    answer.setEncoding('utf8');
    try {
      for await (const text of answer) yield text as string;
    } catch (cause) {
      if (signal?.aborted === true) return;
      throw new BrokenOff(`the connection to ${this.address.text} broke: ${(cause as Error).message}`);
    } finally {
      answer.destroy();
    }
  }

  private async textOf(answer: IncomingMessage): Promise<string> {
    answer.setEncoding('utf8');
    let text = '';
    try {
      for await (const more of answer) text += more as string;
    } catch (cause) {
      throw new BrokenOff(`the connection to ${this.address.text} broke: ${(cause as Error).message}`);
    }
    return text;
  }

  private refusal(answer: IncomingMessage, text: string): Refusal {
    const status = answer.statusCode ?? 0;
    const wire = { statusLine: `${status} ${answer.statusMessage ?? ''}`, body: text };
    if (answer.headers['content-type']?.includes('json') === true) {
      const facts = this.parsed(text) as { detail?: string; code?: string };
      return new Refusal(facts.detail ?? `the server answered ${status}`, status, facts.code, { ...facts }, wire);
    }
    return new Refusal(text.trim() || `the server answered ${status}`, status, undefined, {}, wire);
  }

  private parsed(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new Failure(`${this.address.text} does not speak Muster's API: ${(cause as Error).message}`);
    }
  }

  /** At the first address that answers. One that may have taken the request is not followed by another. */
  private async open(
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const { at: from, addresses } = this;
    const silent: string[] = [];
    for (;;) {
      const at = (from + silent.length) % addresses.length;
      try {
        const answer = await this.ask(addresses[at] ?? addresses[0], method, path, body, headers, signal);
        this.at = at;
        return answer;
      } catch (error) {
        if (!(error instanceof NoServer) || signal?.aborted === true) throw error;
        // Who may ask again, by a key, asks another one. A request beside this one may have found it already.
        if (this.at === at) this.at = (at + 1) % addresses.length;
        if (error.mayHaveArrived) throw error;
        silent.push(error.message);
        if (silent.length < addresses.length) continue;
        throw addresses.length === 1 ? error : new NoServer(silent.join('; '));
      }
    }
  }

  private ask(
    address: Address,
    method: string,
    path: string,
    body: string | undefined,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<IncomingMessage> {
    const { protocol, host, port, socketPath } = address;
    const options = {
      method,
      path,
      ...(socketPath !== undefined ? { socketPath } : { host, port }),
      ...(signal !== undefined && { signal }),
      ...(this.ca !== undefined && { ca: this.ca }),
      agent: false as const,
      // Of the connection, too: a machine that is off answers nothing.
      timeout: this.addresses.length > 1 ? CONNECT_LIMIT_MS : ANSWER_LIMIT_MS,
      headers: {
        'x-muster-user': user(),
        ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...headers,
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
          limit = ANSWER_LIMIT_MS;
          socket.setTimeout(limit);
        }),
      );
      request.on('timeout', () => request.destroy(new Error(`no answer in ${limit / 1000} s`)));
      request.on('error', (cause) => reject(noAnswer(address, cause, isConnected)));
      request.end(body);
    });
  }
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
