import { request as httpRequest } from 'node:http';
import { MusterError } from '#contracts';

export interface Answer {
  status: number;
  text: string;
}

/** Muster's HTTP API as any client sees it. Each request has a connection of its own: a gateway may have died since. */
export class Api {
  constructor(readonly base: string) {}

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
      return await this.send(method, path, body, timeoutMs);
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

  private async answerOf(method: string, path: string, body: unknown, timeoutMs: number): Promise<string> {
    const { status, text } = await this.exchange(method, path, body, timeoutMs);
    if (status < 200 || status > 299)
      throw new MusterError('BAD_REQUEST', `${method} ${path}: ${status} ${text}`, { status });
    return text;
  }

  private send(method: string, path: string, body: unknown, timeoutMs: number): Promise<Answer> {
    const json = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        req.destroy(new Error(`nothing within ${timeoutMs / 1000} s`));
      }, timeoutMs);
      const fail = (e: Error): void => {
        clearTimeout(late);
        reject(e);
      };
      const headers = json === undefined ? {} : { 'content-type': 'application/json' };
      const req = httpRequest(this.base + path, { method, agent: false, headers }, (res) => {
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
