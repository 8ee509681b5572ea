import { MusterError, type Verdict } from '#contracts';

/** An event as the gateway streams it: Muster's own, or a verdict. `arrivedNs` is CLOCK_MONOTONIC at the reader. */
export interface FeedEvent {
  seq: string;
  kind: string;
  key: string;
  at: number;
  data: Record<string, unknown>;
  arrivedNs: bigint;
}

type Wanted = (e: FeedEvent) => boolean;

/** Follows `/v1/events` as server-sent events, keeps all it saw, and lets a caller await one. */
export class EventFeed {
  readonly seen: FeedEvent[] = [];
  private readonly waiting = new Set<{ wanted: Wanted; resolve: (e: FeedEvent) => void }>();
  private readonly stopped = new AbortController();
  /** Ended for good, and why: awaiting anything further is pointless. */
  private failure: Error | undefined;

  private constructor(private readonly url: string) {}

  /** Resolves when the stream is open. */
  static async open(base: string): Promise<EventFeed> {
    const feed = new EventFeed(`${base}/v1/events`);
    await feed.connect();
    return feed;
  }

  private async connect(): Promise<void> {
    const last = this.seen.at(-1)?.seq;
    const res = await fetch(this.url, {
      headers: { accept: 'text/event-stream', ...(last === undefined ? {} : { 'last-event-id': last }) },
      signal: this.stopped.signal,
    });
    if (!res.ok || res.body === null)
      throw new MusterError('BUS_UNAVAILABLE', `event stream ${this.url}: status ${res.status}`);
    void this.read(res.body).catch((e: unknown) => {
      if (!this.stopped.signal.aborted) void this.reconnect(e);
    });
  }

  private async reconnect(cause: unknown): Promise<void> {
    for (let tries = 0; tries < 50 && !this.stopped.signal.aborted; tries += 1) {
      try {
        await this.connect();
        return;
      } catch (e) {
        cause = e;
        await new Promise((r) => setTimeout(r, 200));
      }
    }
    this.failure = new MusterError('BUS_UNAVAILABLE', `the event stream is gone: ${String(cause)}`, {}, { cause });
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        this.take(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
    throw new MusterError('BUS_UNAVAILABLE', 'the event stream ended');
  }

  private take(block: string): void {
    const field = (name: string): string =>
      block
        .split('\n')
        .filter((l) => l.startsWith(`${name}:`))
        .map((l) => l.slice(name.length + 1).trimStart())
        .join('\n');
    const data = field('data');
    if (data === '') return;
    const parsed = JSON.parse(data) as { kind: string; key: string; at: number; data: Record<string, unknown> };
    const event: FeedEvent = { ...parsed, seq: field('id'), arrivedNs: process.hrtime.bigint() };
    this.seen.push(event);
    for (const w of this.waiting)
      if (w.wanted(event)) {
        this.waiting.delete(w);
        w.resolve(event);
      }
  }

  /** The position to wait from: events before it do not count. */
  mark(): number {
    return this.seen.length;
  }

  /** The first event from `from` on that is wanted; rejects with what was awaited when `timeoutMs` is over. */
  async until(what: string, wanted: Wanted, timeoutMs: number, from = this.mark()): Promise<FeedEvent> {
    const there = this.seen.slice(from).find(wanted);
    if (there !== undefined) return there;
    if (this.failure !== undefined) throw this.failure;
    return await new Promise<FeedEvent>((resolve, reject) => {
      const entry = { wanted, resolve: (e: FeedEvent) => (clearTimeout(timer), resolve(e)) };
      const timer = setTimeout(() => {
        this.waiting.delete(entry);
        reject(new MusterError('TIMEOUT', `waited ${timeoutMs / 1000} s for ${what}; it did not come`));
      }, timeoutMs);
      this.waiting.add(entry);
    });
  }

  verdict(node: string, verdict: Verdict['verdict'], timeoutMs: number, from?: number): Promise<FeedEvent> {
    return this.until(
      `verdict ${verdict} on ${node}`,
      (e) => e.kind === 'verdict' && e.key === node && e.data['verdict'] === verdict,
      timeoutMs,
      from,
    );
  }

  incident(node: string, phase: string, timeoutMs: number, from?: number): Promise<FeedEvent> {
    return this.until(
      `incident of ${node} to be ${phase}`,
      (e) => e.kind === 'incident' && e.data['node'] === node && e.data['phase'] === phase,
      timeoutMs,
      from,
    );
  }

  inService(node: string, timeoutMs: number, from?: number): Promise<FeedEvent> {
    return this.until(`${node} to be in service`, (e) => e.kind === 'in-service' && e.key === node, timeoutMs, from);
  }

  close(): void {
    this.stopped.abort();
  }
}
