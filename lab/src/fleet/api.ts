import { request as httpRequest } from 'node:http';
import { MusterError } from '#contracts';

export interface Answer {
  status: number;
  text: string;
}

/** Answered with 200 by a gateway that has a view of the fleet. */
const READY = '/readyz';

/**
 * Muster's HTTP API as any client sees it. Each request has a connection of its own: a gateway may have died since. Of
 * several gateways the one that answered last is asked first. Where it does not answer, or has no view of the fleet (503),
 * the next one is asked. A POST is sent once, to one that is ready: whether it was carried out cannot be told from silence.
 */
export class Api {
  private readonly bases: readonly string[];
  private preferred = 0;

  /** @param token that the gateways want; absent: none is sent */
  constructor(
    bases: string | readonly string[],
    private readonly token?: string,
  ) {
    this.bases = [bases].flat();
  }

  /** Of the gateway that is asked first. */
  get base(): string {
    return this.bases[this.preferred] ?? '';
  }

  /** BUS_UNAVAILABLE: nobody answered; BAD_REQUEST: refused, the status is a fact of the error. */
  async request<T>(method: string, path: string, body?: unknown, timeoutMs = 10_000): Promise<T> {
    const text = await this.answerOf(method, path, body, timeoutMs);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  /** An answer that is no JSON, e.g. a job's log. */
  text(path: string): Promise<string> {
    return this.answerOf('GET', path, undefined, 10_000);
  }

  /** The answer as it is, also a refusal. BUS_UNAVAILABLE: nobody answered. */
  async exchange(method: string, path: string, body?: unknown, timeoutMs = 10_000): Promise<Answer> {
    try {
      if (this.bases.length === 1) return await this.send(this.base, method, path, body, timeoutMs);
      // Such a part of the time that all of them can be asked.
      const shareMs = timeoutMs / this.bases.length;
      if (method !== 'POST') return await this.ask(method, path, body, shareMs);
      await this.ask('GET', READY, undefined, shareMs);
      return await this.send(this.base, method, path, body, timeoutMs);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new MusterError(
        'BUS_UNAVAILABLE',
        `${method} ${path}: no answer from ${this.base} (${why})`,
        {},
        { cause },
      );
    }
  }

  /** The first answer that is no 503, else the last one; rejects where nobody answers. */
  private async ask(method: string, path: string, body: unknown, eachMs: number): Promise<Answer> {
    let last: Answer | undefined;
    let failure: unknown;
    const first = this.preferred;
    for (let i = 0; i < this.bases.length; i += 1) {
      const at = (first + i) % this.bases.length;
      try {
        last = await this.send(this.bases[at] ?? '', method, path, body, eachMs);
      } catch (e) {
        failure = e;
        continue;
      }
      this.preferred = at;
      if (last.status !== 503) return last;
    }
    if (last === undefined) throw failure;
    return last;
  }

  private async answerOf(method: string, path: string, body: unknown, timeoutMs: number): Promise<string> {
    const { status, text } = await this.exchange(method, path, body, timeoutMs);
    if (status < 200 || status > 299)
      throw new MusterError('BAD_REQUEST', `${method} ${path}: ${status} ${text}`, { status });
    return text;
  }

  private send(base: string, method: string, path: string, body: unknown, timeoutMs: number): Promise<Answer> {
    const json = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        req.destroy(new Error(`nothing within ${timeoutMs / 1000} s`));
      }, timeoutMs);
      const fail = (e: Error): void => {
        clearTimeout(late);
        reject(e);
      };
      const headers = {
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
      };
      const req = httpRequest(base + path, { method, agent: false, headers }, (res) => {
        let text = '';
        res.setEncoding('utf8');
        res.on('data', (chunk: string) => (text += chunk));
        res.on('error', fail);
        res.on('end', () => {
          clearTimeout(late);
          resolve({ status: res.statusCode ?? 0, text });
        });
      });
      req.on('error', fail);
      req.end(json);
    });
  }

  get<T>(path: string): Promise<T> {
    return this.request<T>('GET', path);
  }
  post<T>(path: string, body: unknown): Promise<T> {
    return this.request<T>('POST', path, body);
  }
  put<T>(path: string, body: unknown): Promise<T> {
    return this.request<T>('PUT', path, body);
  }

  /** Every item of a list, over all its pages. */
  async all<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    let cursor: string | undefined;
    do {
      const sign = path.includes('?') ? '&' : '?';
      const page = await this.get<{ items: T[]; next?: string }>(
        cursor === undefined ? path : `${path}${sign}cursor=${encodeURIComponent(cursor)}`,
      );
      items.push(...page.items);
      cursor = page.next;
    } while (cursor !== undefined);
    return items;
  }
}
