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

/** A gateway that is gone is asked again after so long. */
const AGAIN_MS = 200;
/** A feed that reads from no gateway for so long has failed. */
const GIVES_UP_MS = 10_000;
/** Of several gateways some may be gone for as long as a fault lasts. */
const SEVERAL_GIVE_UP_MS = 120_000;

/**
 * Follows `/v1/events` as server-sent events, keeps all it saw, and lets a caller await one. Where there are several
 * gateways each is followed, since one that stands still says nothing of it: the first to tell an event counts.
 */
export class EventFeed {
  readonly seen: FeedEvent[] = [];
  private readonly ids = new Set<string>();
  private last = 0;
  private readonly waiting = new Set<{ wanted: Wanted; resolve: (e: FeedEvent) => void }>();
  private readonly stopped = new AbortController();
  /** Ended for good, and why: awaiting anything further is pointless. */
  private failure: Error | undefined;
  private reading = 0;
  private silentSince = performance.now();

  private constructor(
    private readonly bases: readonly string[],
    private readonly token: string | undefined,
  ) {}

  /** Resolves when the stream of a gateway is open. */
  static async open(bases: readonly string[], token?: string): Promise<EventFeed> {
    const feed = new EventFeed(bases, token);
    const opened = await Promise.allSettled(bases.map((base) => feed.connect(base)));
    const failed = opened.flatMap((o) => (o.status === 'rejected' ? [o.reason as unknown] : []));
    if (failed.length === bases.length) throw failed[0];
    opened.forEach((o, i) => {
      void feed.follow(bases[i] ?? '', o.status === 'fulfilled' ? o.value : undefined);
    });
    return feed;
  }

  private async connect(base: string): Promise<ReadableStream<Uint8Array>> {
    const url = `${base}/v1/events`;
    const res = await fetch(url, {
      headers: {
        accept: 'text/event-stream',
        ...(this.last > 0 && { 'last-event-id': String(this.last) }),
        ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
      },
      signal: this.stopped.signal,
    });
    if (!res.ok || res.body === null)
      throw new MusterError('BUS_UNAVAILABLE', `event stream ${url}: status ${res.status}`);
    return res.body;
  }

  /** Until the feed is closed: a stream that has ended is opened again. */
  private async follow(base: string, open: ReadableStream<Uint8Array> | undefined): Promise<void> {
    let stream = open;
    while (!this.stopped.signal.aborted && this.failure === undefined) {
      try {
        stream ??= await this.connect(base);
        this.reading += 1;
        await this.read(stream).finally(() => {
          this.reading -= 1;
          if (this.reading === 0) this.silentSince = performance.now();
        });
      } catch (e) {
        if (this.stopped.signal.aborted) return;
        this.giveUpAfterSilence(e);
      }
      stream = undefined;
      await new Promise((r) => setTimeout(r, AGAIN_MS));
    }
  }

  private giveUpAfterSilence(cause: unknown): void {
    const limitMs = this.bases.length > 1 ? SEVERAL_GIVE_UP_MS : GIVES_UP_MS;
    if (this.reading > 0 || performance.now() - this.silentSince < limitMs) return;
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
    const seq = field('id');
    if (this.ids.has(seq)) return;
    this.ids.add(seq);
    this.last = Math.max(this.last, Number(seq));
    const event: FeedEvent = { ...parsed, seq, arrivedNs: process.hrtime.bigint() };
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

  /** Resolves at the next event, whatever it is, and without one after so long. */
  async next(withinMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const entry = { wanted: () => true, resolve: () => (clearTimeout(timer), resolve()) };
      const timer = setTimeout(() => {
        this.waiting.delete(entry);
        resolve();
      }, withinMs);
      this.waiting.add(entry);
    });
  }

  /** Those that were given since `from`, on this node or on all, in their order. */
  verdicts(from: number, node?: string): FeedEvent[] {
    return this.seen.slice(from).filter((e) => e.kind === 'verdict' && (node === undefined || e.key === node));
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
