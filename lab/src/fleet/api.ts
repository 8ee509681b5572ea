import { MusterError } from '#contracts';

/** Muster's HTTP API as any client sees it. */
export class Api {
  constructor(readonly base: string) {}

  async request<T>(method: string, path: string, body?: unknown, timeoutMs = 10_000): Promise<T> {
    let res: Response;
    // AbortSignal.timeout does not keep the process alive, and undici may hang on a connection that is closed before
    // its answer: then nothing would be left to wake us, and the program would end in the middle.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      res = await fetch(this.base + path, {
        method,
        signal: late.signal,
        ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
    } catch (e) {
      throw new MusterError('BUS_UNAVAILABLE', `${method} ${path}: no answer from ${this.base}`, {}, { cause: e });
    } finally {
      clearTimeout(timer);
    }
    const text = await res.text();
    if (!res.ok)
      throw new MusterError('BAD_REQUEST', `${method} ${path}: ${res.status} ${text}`, { status: res.status });
    return (text === '' ? undefined : JSON.parse(text)) as T;
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
