import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Failure } from '../failure/failure.js';
import type { Address } from './address.js';
import { ask, BrokenOff, NoServer } from './ask.js';
import { chooseAddress, type Choice } from './choose-address.js';

/** A server that takes longer for anything but a stream is taken for dead, ms. */
const ANSWER_LIMIT_MS = 30_000;
/** The same while it has not even taken the connection, and there are others to ask, ms. */
const CONNECT_LIMIT_MS = 3_000;
/** A gateway that has nothing behind it, or nobody who leads. */
const UNAVAILABLE = 503;
/** What is asked twice under the same key is carried out once. */
const ONCE = 'idempotency-key';

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

/** An answer, and who gave it. */
interface Answered {
  answer: IncomingMessage;
  address: Address;
}

/** Muster's HTTP API: all that this program knows of a cluster comes from here. */
export class Server {
  /** Of several addresses; absent: it did not answer, or was not ready, and one is chosen anew. */
  private chosen: Promise<Choice> | undefined;

  /**
   * @param addresses of one cluster: of several one that is ready is asked, another when it is not any more
   * @param ca PEM: trusted in the place of the authorities that Node trusts
   */
  constructor(
    private readonly addresses: readonly [Address, ...Address[]],
    private readonly token: string | undefined,
    private readonly ca?: string,
  ) {}

  get<T>(path: string): Promise<T> {
    return this.exchange<T>('GET', path);
  }

  /**
   * By its key the server carries it out once, also where a connection that breaks makes us ask a second time, or a
   * proxy on the way sends it twice.
   * @throws Refusal, NoServer
   */
  async post<T>(path: string, body: unknown = {}): Promise<T> {
    const once = { [ONCE]: randomUUID() };
    // Only /v1 knows keys.
    if (!path.startsWith('/v1/')) return this.exchange<T>('POST', path, body);
    try {
      return await this.exchange<T>('POST', path, body, once);
    } catch (error) {
      if (!(error instanceof BrokenOff)) throw error;
      return this.exchange<T>('POST', path, body, once);
    }
  }

  /** The answer as it stands on the wire. @throws Refusal, NoServer */
  async text(path: string): Promise<string> {
    return (await this.whole('GET', path)).text;
  }

  /** @throws Refusal, NoServer */
  async exchange<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
    const { text, address } = await this.whole(
      method,
      path,
      body === undefined ? undefined : JSON.stringify(body),
      headers,
    );
    return (text === '' ? {} : parsed(text, address)) as T;
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
    const begin = (address: Address) => this.begin(address, 'GET', path, undefined, headers, signal);
    const { answer, address } = await this.atOneThatAnswers(true, begin, signal);
    if ((answer.statusCode ?? 0) >= 400) throw refusal(answer, await textOf(answer, address), address);
    answer.setEncoding('utf8');
    try {
      for await (const text of answer) yield text as string;
    } catch (cause) {
      if (signal?.aborted === true) return;
      this.chosen = undefined;
      throw brokenOff(address, cause);
    } finally {
      answer.destroy();
    }
  }

  /** @throws Refusal, NoServer */
  private async whole(method: string, path: string, body?: string, headers: Record<string, string> = {}) {
    // What changes nothing, or is carried out once by its key, may be asked of another.
    const isRepeatable = method === 'GET' || ONCE in headers;
    const { answer, text, address } = await this.atOneThatAnswers(isRepeatable, async (address) => {
      const begun = await this.begin(address, method, path, body, headers);
      return { ...begun, text: await textOf(begun.answer, address) };
    });
    if ((answer.statusCode ?? 0) >= 400) throw refusal(answer, text, address);
    return { text, address };
  }

  private async begin(
    address: Address,
    method: string,
    path: string,
    body: string | undefined,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Answered> {
    const { token, ca } = this;
    const connectLimitMs = this.addresses.length > 1 ? CONNECT_LIMIT_MS : ANSWER_LIMIT_MS;
    const limits = { connectLimitMs, answerLimitMs: ANSWER_LIMIT_MS };
    return { answer: await ask(address, { method, path, body, headers, token, ca, signal, ...limits }), address };
  }

  /**
   * Each is asked at most once for each address that there is. What is not repeatable, and may have arrived, is asked of
   * nobody else.
   * @throws NoServer
   */
  private async atOneThatAnswers<T extends Answered>(
    isRepeatable: boolean,
    begin: (address: Address) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    for (let left = this.addresses.length - 1; ; left -= 1) {
      const choice = this.choose();
      const { address, isReady } = await choice;
      try {
        const answered = await begin(address);
        if (answered.answer.statusCode !== UNAVAILABLE) return answered;
        this.forget(choice);
        if (!isReady || !isRepeatable || left <= 0) return answered;
        // It may be ready, and refuse this alone.
        if ((await this.choose()).address === address) return answered;
        answered.answer.destroy();
      } catch (error) {
        if (!(error instanceof NoServer) || signal?.aborted === true) throw error;
        this.forget(choice);
        if (left <= 0 || (error.mayHaveArrived && !isRepeatable)) throw error;
      }
    }
  }

  /** Requests beside each other ask the same one. */
  private choose(): Promise<Choice> {
    const { addresses, ca } = this;
    if (addresses.length === 1) return Promise.resolve({ address: addresses[0], isReady: true });
    if (this.chosen !== undefined) return this.chosen;
    const chosen = chooseAddress(addresses, ca);
    this.chosen = chosen;
    const forget = (): void => this.forget(chosen);
    // One that is not ready is asked while there is no better one.
    chosen.then(({ isReady }) => isReady || forget(), forget);
    return chosen;
  }

  private forget(choice: Promise<Choice>): void {
    // A request beside this one may have chosen anew already.
    if (this.chosen === choice) this.chosen = undefined;
  }
}

async function textOf(answer: IncomingMessage, address: Address): Promise<string> {
  answer.setEncoding('utf8');
  let text = '';
  try {
    for await (const more of answer) text += more as string;
  } catch (cause) {
    throw brokenOff(address, cause);
  }
  return text;
}

const brokenOff = ({ text }: Address, cause: unknown): BrokenOff =>
  new BrokenOff(`the connection to ${text} broke: ${(cause as Error).message}`);

function refusal(answer: IncomingMessage, text: string, address: Address): Refusal {
  const status = answer.statusCode ?? 0;
  const wire = { statusLine: `${status} ${answer.statusMessage ?? ''}`, body: text };
  if (answer.headers['content-type']?.includes('json') === true) {
    const facts = parsed(text, address) as { detail?: string; code?: string };
    return new Refusal(facts.detail ?? `the server answered ${status}`, status, facts.code, { ...facts }, wire);
  }
  return new Refusal(text.trim() || `the server answered ${status}`, status, undefined, {}, wire);
}

function parsed(text: string, address: Address): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Failure(`${address.text} does not speak Muster's API: ${(cause as Error).message}`);
  }
}
