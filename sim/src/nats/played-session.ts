import type { Timer } from '#contracts';
import type { ReadMessage, ReadOptions, ReadSession } from '#bus/ports/message-log.js';
import { NS_PER_MS } from '../time/virtual-time.js';
import type { PlayedConnection } from './played-connection.js';
import type { PlayedServer } from './played-server.js';
import { textOf, type PlayedMessage, type PlayedStream } from './played-stream.js';
import { matcher } from './subject-match.js';

/** A reader that heard nothing for so long does not trust its session any more. */
const SILENCE_MS = 4000;
const HEARTBEAT_MS = 1000;
/** The server forgets a session that nobody listens to. */
const FORGOTTEN_MS = 5000;

/** An ordered reading of a stream. The upper half is what the server does for it, the lower half the reader's end. */
export class PlayedSession implements ReadSession {
  private live = false;
  private readonly matching: (subject: string) => boolean;
  /** Sequences of the snapshot that are not sent yet. */
  private snapshot: number[] = [];
  private next = 1;
  /** Up to here the replica that is read from has the stream. */
  private held = Infinity;
  private sent = 0;
  private reading = false;
  private gone = false;
  /** Nobody listens since then. */
  private awaySinceNs: number | undefined;
  private arrivesNs = 0;

  private ended = false;
  private received = 0;
  /** Messages that were there at the start; unknown until the server has answered. */
  private total: number | undefined;
  private silence: Timer | undefined;
  private work: Promise<void> = Promise.resolve();
  private busy = 0;

  constructor(
    private readonly server: PlayedServer,
    private readonly client: PlayedConnection,
    private readonly stream: string,
    private readonly o: ReadOptions,
  ) {
    this.matching = matcher(o.filter);
  }

  /** Returns how many messages are there. */
  begin(): number {
    const stream = this.server.stream(this.stream);
    const behind = this.server.faults.replicaBehind(this.stream);
    if (behind.messages > 0) this.catchUpLater(stream.lastSeq - behind.messages, behind.forMs);
    const { start } = this.o;
    this.next = Math.min(stream.lastSeq, this.held) + 1;
    if (start.from === 'last-per-subject')
      this.snapshot = stream.lastPerSubject(this.matching).filter((seq) => seq <= this.held);
    else if (start.from === 'all') this.next = 1;
    else if (start.from === 'seq') this.next = start.seq;
    else if (start.from === 'time') this.next = stream.seqAt(start.time.getTime());
    this.server.addSession(this.stream, this);
    let count = this.snapshot.length;
    for (let m = this.nextHeld(stream, this.next); m; m = this.nextHeld(stream, m.seq + 1)) count++;
    this.stored();
    return count;
  }

  private catchUpLater(held: number, afterMs: number): void {
    this.held = held;
    this.server.time.schedule(afterMs * NS_PER_MS, `a replica of ${this.stream} catches up`, () => {
      this.held = Infinity;
      this.stored();
    });
  }

  private nextHeld(stream: PlayedStream, from: number): PlayedMessage | undefined {
    const m = stream.nextOf(this.matching, from);
    return m && m.seq <= this.held ? m : undefined;
  }

  /** There may be something to send. */
  stored(): void {
    if (this.reading || this.gone || this.awaySinceNs !== undefined) return;
    const lagMs = this.server.faults.lagMs(this.stream);
    if (lagMs === 0) return this.read(0);
    // Late at the server, which then finds what is stored by then, or late on the way.
    const readMs = lagMs * this.server.faults.dice.roll();
    this.reading = true;
    this.server.time.schedule(readMs * NS_PER_MS, `${this.client.name} reads ${this.stream}`, () => {
      this.reading = false;
      if (!this.gone && this.awaySinceNs === undefined) this.read(lagMs - readMs);
    });
  }

  /** The connection broke: what is on its way is lost, and nothing more is sent until there is another one. */
  cut(): void {
    this.awaySinceNs ??= this.server.time.nowNs;
    this.expectSound();
  }

  reconnected(): void {
    if (this.awaySinceNs === undefined || this.gone) return;
    if (this.server.time.nowNs - this.awaySinceNs > FORGOTTEN_MS * NS_PER_MS) {
      this.gone = true;
      this.server.removeSession(this.stream, this);
      return;
    }
    this.awaySinceNs = undefined;
    this.heartbeat();
    this.stored();
  }

  /** The server has no such session any more, and says nothing of it. */
  vanish(): void {
    this.gone = true;
    this.expectSound();
  }

  private read(lagMs: number): void {
    const stream = this.server.stream(this.stream);
    const batch: PlayedMessage[] = [];
    for (const seq of this.snapshot) {
      const m = stream.get(seq);
      if (m) batch.push(m);
    }
    const begun = this.snapshot.length > 0;
    this.snapshot = [];
    this.take(stream, batch);
    if (batch.length === 0) {
      // All that it was to begin with is gone meanwhile.
      if (begun) this.heartbeat();
      return;
    }
    const first = this.sent + 1;
    this.sent += batch.length;
    this.send(lagMs, () => this.receive(first, batch));
  }

  private take(stream: PlayedStream, batch: PlayedMessage[]): void {
    for (let m = this.nextHeld(stream, this.next); m; m = this.nextHeld(stream, m.seq + 1)) batch.push(m);
    this.next = Math.max(this.next, Math.min(stream.lastSeq, this.held) + 1);
  }

  private heartbeat(): void {
    const sent = this.sent;
    this.send(HEARTBEAT_MS, () => {
      if (this.received !== sent) return this.doubt('a message is missing before a heartbeat');
      this.total = sent;
      this.settle();
    });
  }

  /** In its own order, whatever else comes over the connection. */
  private send(lagMs: number, receive: () => void): void {
    const now = this.server.time.nowNs;
    this.arrivesNs = Math.max(this.arrivesNs, now + (this.server.faults.latencyMs() + lagMs) * NS_PER_MS);
    this.client.toClient(this.arrivesNs - now, this.stream, () => {
      if (this.ended) return;
      this.silence?.cancel();
      this.silence = undefined;
      // What was on its way when the server lost the session is the last that is heard of it.
      if (this.gone || this.awaySinceNs !== undefined) this.expectSound();
      receive();
    });
  }

  // The reader's end.

  /** The server has agreed. */
  agreed(total: number): void {
    if (this.ended) return;
    this.total ??= total;
    this.settle();
  }

  close(): void {
    if (this.ended) return;
    this.ended = true;
    this.live = false;
    this.silence?.cancel();
    this.client.forgetSession(this);
    this.client.send(`unread ${this.stream}`, () => {
      this.gone = true;
      this.server.removeSession(this.stream, this);
    });
  }

  private doubt(why: string): void {
    if (this.ended) return;
    this.close();
    this.o.onDoubt(why);
  }

  private expectSound(): void {
    if (this.ended) return;
    this.silence ??= this.client.clock.after(SILENCE_MS, () => this.doubt('no heartbeat'));
  }

  private receive(first: number, batch: readonly PlayedMessage[]): void {
    if (first !== this.received + 1) return this.doubt('a message is missing');
    this.received += batch.length;
    for (const m of batch) this.hand(m);
    // At the moment of sending there was nothing after it.
    this.total = this.received;
    this.settle();
  }

  private hand(m: PlayedMessage): void {
    const run = (): void | Promise<void> => {
      if (this.ended) return;
      const message: ReadMessage = { subject: m.subject, seq: m.seq, text: textOf(m), headers: m.headers };
      return this.o.onMessage(message);
    };
    if (this.busy > 0) return this.queue(run);
    const done = run();
    if (done) this.queue(() => done);
  }

  private queue(step: () => void | Promise<void>): void {
    this.busy++;
    this.work = this.work
      .then(step)
      .catch((e: unknown) => this.doubt(`its reader failed: ${String(e)}`))
      .then(() => {
        this.busy--;
      });
  }

  private settle(): void {
    if (this.live || this.ended || this.total === undefined || this.received < this.total) return;
    const announce = (): void => {
      if (this.ended || this.live) return;
      this.live = true;
      this.o.onLive();
    };
    if (this.busy === 0) announce();
    else this.queue(announce);
  }
}
