import { MusterError, type Clock, type Random, type Timer } from '#contracts';
import type { WireStatus } from '#bus/ports/wire.js';
import type { VirtualClock } from '../time/virtual-clock.js';
import { NS_PER_MS } from '../time/virtual-time.js';
import { INBOX, type Interest, type PlayedServer } from './played-server.js';
import type { PullRequest } from './played-durable.js';

export interface BreakOptions {
  /** The network is gone for so long, ms: no new connection before. @default 0 */
  forMs?: number;
  /** So much later the client notices, ms: its pings go unanswered. @default 0: at once */
  silentMs?: number;
  /** Does what is on its way to the server arrive? What comes back never does. @default drawn */
  carried?: boolean;
}

/** One connection, from its start to its end. */
interface Connection {
  broken: boolean;
  /** The server does not know that it is, and goes on sending to nobody. */
  silent: boolean;
  /** What was sent before it broke arrives up to then. */
  arrivesUntilNs: number;
  /** In order, both ways: nothing arrives before what was sent earlier. */
  upNs: number;
  downNs: number;
  /** Nothing comes from the server before. */
  heldUntilNs: number;
}

/** A reading of a stream, as far as its connection matters to it. */
export interface ConnectedSession {
  cut(): void;
  reconnected(): void;
  close(): void;
}

interface InFlight {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
  timer: Timer;
}

/** Between two tries to connect, ms, and as much again by chance. */
const RECONNECT_MS = 250;
/** A server drops a client that leaves two pings unanswered, two minutes apart. */
const UNANSWERED_PINGS_MS = 240_000;

const unavailable = (what: string): MusterError => new MusterError('BUS_UNAVAILABLE', `${what}: no connection to NATS`);

/** One process's connection to the played server, over all its reconnections: what its ports stand on. */
export class PlayedConnection {
  private readonly listeners = new Set<(status: WireStatus) => void>();
  private readonly inFlight = new Map<string, InFlight>();
  private readonly interests = new Set<Interest>();
  private readonly sessions = new Set<ConnectedSession>();
  private readonly pulls = new Set<PullRequest>();
  private connection: Connection | undefined;
  private cutUntilNs = 0;
  private over = false;

  constructor(
    readonly server: PlayedServer,
    readonly name: string,
    readonly clock: VirtualClock,
    private readonly random: Random,
  ) {
    this.connection = newLife(server.time.nowNs);
    server.addClient(name, this);
  }

  /** As the process knows it. */
  get connected(): boolean {
    return this.connection !== undefined;
  }

  get closed(): boolean {
    return this.over;
  }

  onStatus(fn: (status: WireStatus) => void): () => void {
    this.listeners.add(fn);
    return () => this.listeners.delete(fn);
  }

  /** The connection breaks, now; the process may learn of it later. */
  break(o: BreakOptions = {}): void {
    const { time, faults } = this.server;
    this.cutUntilNs = Math.max(this.cutUntilNs, time.nowNs + (o.forMs ?? 0) * NS_PER_MS);
    const connection = this.connection;
    if (!connection) return;
    if (o.carried === false) connection.arrivesUntilNs = time.nowNs - 1;
    if (connection.broken) return;
    connection.broken = true;
    connection.silent = o.silentMs !== undefined;
    connection.arrivesUntilNs = (o.carried ?? faults.dice.chance(0.5)) ? Infinity : time.nowNs - 1;
    if (!connection.silent) {
      for (const i of this.interests) this.server.removeInterest(i);
      for (const pull of this.pulls) pull.open = false;
    }
    this.pulls.clear();
    for (const session of [...this.sessions]) session.cut();
    this.clock.incoming((o.silentMs ?? 0) * NS_PER_MS, `${this.name} disconnected`, () => this.lost(connection));
  }

  /**
   * The network is gone for so long, ms, and its systems keep what is sent meanwhile: all of it arrives when it is back, also
   * what was sent by a process that has counted its connection as broken since.
   * @param o.silentMs until the process does that, where the network is not back before
   */
  holdUp(o: { forMs: number; silentMs: number }): void {
    const { time } = this.server;
    const connection = this.connection;
    if (!connection || connection.broken) return;
    const untilNs = time.nowNs + o.forMs * NS_PER_MS;
    connection.upNs = Math.max(connection.upNs, untilNs);
    connection.downNs = Math.max(connection.downNs, untilNs);
    connection.heldUntilNs = Math.max(connection.heldUntilNs, untilNs);
    if (o.silentMs >= o.forMs) return;
    time.schedule(o.silentMs * NS_PER_MS, `${this.name} hears nothing`, () => {
      if (this.connection === connection) this.break({ forMs: o.forMs - o.silentMs, carried: true });
    });
  }

  /** The network is back; the process finds out by itself. */
  heal(): void {
    this.cutUntilNs = 0;
  }

  /**
   * Its process is gone: what it has sent still arrives.
   * @param o.silent so is its host: nobody tells the server, which goes on sending to it for some minutes
   */
  vanish(o: { silent?: boolean } = {}): void {
    const silent = o.silent === true;
    this.break({ forMs: Infinity, carried: true, ...(silent && { silentMs: 0 }) });
    this.over = true;
    const forget = (): void => {
      for (const i of this.interests) this.server.removeInterest(i);
    };
    if (silent) this.server.time.schedule(UNANSWERED_PINGS_MS * NS_PER_MS, `${this.name} is dropped`, forget);
    else forget();
  }

  // For its ports.

  /** Something that the server does at once, and its answer. */
  call<T>(what: string, timeoutMs: number, act: () => T): Promise<T> {
    return this.ask<T>(what, timeoutMs, (id, connection) => {
      const fate = this.server.faults.fate(this.name, what);
      if (fate === 'lost') return;
      this.toServer(connection, what, () => {
        const answer = attempt(act);
        if (fate !== 'unanswered') this.back(connection, what, () => this.settle(id, answer));
      });
      if (fate === 'twice') this.copy(what, act);
    });
  }

  /** Something that another client answers, if it does. */
  request(subject: string, text: string, timeoutMs: number, onNobody: () => Error): Promise<string> {
    return this.ask<string>(subject, timeoutMs, (id, connection) => {
      const fate = this.server.faults.fate(this.name, subject);
      if (fate === 'lost') return;
      const reply = fate === 'unanswered' ? `${INBOX}nobody.${id}` : id;
      this.toServer(connection, subject, () => {
        if (!this.server.publish(subject, text, reply))
          this.back(connection, subject, () => this.settle(id, { error: onNobody() }));
      });
    });
  }

  /** An answer has reached the server. */
  answered(reply: string, text: string): void {
    const connection = this.connection;
    if (connection) this.back(connection, reply, () => this.settle(reply, { value: text }));
  }

  /** One way; dropped without a connection. */
  send(what: string, act: () => void): void {
    if (this.connection && !this.over) this.toServer(this.connection, what, act);
  }

  /** From the server, unless the connection breaks before. `delayNs` is in the sender's hands. */
  toClient(delayNs: number, what: string, receive: () => void): void {
    const connection = this.connection;
    if (!connection || connection.broken) return;
    const leftNs = Math.max(delayNs, connection.heldUntilNs - this.server.time.nowNs);
    this.clock.incoming(leftNs, `${this.name} < ${what}`, () => {
      if (!connection.broken) receive();
    });
  }

  /** From the server, in the connection's order. */
  inOrder(what: string, receive: () => void): void {
    if (this.connection) this.back(this.connection, what, receive);
  }

  addInterest(interest: Interest): void {
    this.interests.add(interest);
    this.send(`sub ${interest.subject}`, () => {
      if (this.interests.has(interest)) this.server.addInterest(interest);
    });
  }

  /** @param then once the server knows, and all that it had sent before has come; at once without a connection */
  removeInterest(interest: Interest, then?: () => void): void {
    if (!this.interests.delete(interest)) return then?.();
    if (!this.connection || this.over) {
      this.server.removeInterest(interest);
      return then?.();
    }
    const id = then && this.addInFlight(then, then);
    this.send(`unsub ${interest.subject}`, () => {
      this.server.removeInterest(interest);
      if (id !== undefined) this.inOrder('unsub', () => this.settle(id, { value: undefined }));
    });
  }

  addSession(session: ConnectedSession): void {
    this.sessions.add(session);
  }

  addPull(pull: PullRequest): void {
    this.pulls.add(pull);
  }

  forgetPull(pull: PullRequest): void {
    this.pulls.delete(pull);
  }

  forgetSession(session: ConnectedSession): void {
    this.sessions.delete(session);
  }

  /** Resolves to true once it stands, to false when it was closed. */
  whenConnected(): Promise<boolean> {
    if (this.over) return Promise.resolve(false);
    if (this.connection) return Promise.resolve(true);
    return new Promise((resolve) => {
      const off = this.onStatus((status) => {
        off();
        resolve(status === 'connected');
      });
    });
  }

  close(): void {
    if (this.over) return;
    this.over = true;
    for (const i of this.interests) this.server.removeInterest(i);
    for (const session of [...this.sessions]) session.close();
    if (this.connection) this.lost(this.connection);
  }

  private ask<T>(what: string, timeoutMs: number, send: (id: string, connection: Connection) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const connection = this.connection;
      if (!connection || this.over) return reject(unavailable(what));
      const late = (): void =>
        this.settle(id, { error: new MusterError('TIMEOUT', `no answer on ${what} in time`, { subject: what }) });
      const id = this.addInFlight(
        resolve as (answer: unknown) => void,
        reject,
        this.clock.after(timeoutMs, late),
        what,
      );
      send(id, connection);
    });
  }

  private addInFlight(
    resolve: (answer: unknown) => void,
    reject: (error: unknown) => void,
    timer: Timer = NO_TIMER,
    what = '',
  ): string {
    const id = `${INBOX}${this.name}.${this.server.nextCall()}`;
    this.inFlight.set(id, { resolve, reject: (error) => reject(error ?? unavailable(what)), timer });
    return id;
  }

  private settle(id: string, outcome: { value: unknown } | { error: unknown }): void {
    const waiting = this.inFlight.get(id);
    if (!waiting) return;
    this.inFlight.delete(id);
    waiting.timer.cancel();
    if ('error' in outcome) waiting.reject(outcome.error);
    else waiting.resolve(outcome.value);
  }

  private toServer(connection: Connection, what: string, act: () => void): void {
    // What is sent into a broken connection reaches nobody, whether or not its sender knows.
    if (connection.broken) return;
    const { time, faults } = this.server;
    connection.upNs = Math.max(connection.upNs, time.nowNs + faults.latencyMs() * NS_PER_MS);
    time.schedule(connection.upNs - time.nowNs, `${this.name} > ${what}`, () => {
      if (this.server.up && time.nowNs <= connection.arrivesUntilNs) act();
    });
  }

  private back(connection: Connection, what: string, receive: () => void): void {
    if (connection.broken) return;
    const { time, faults } = this.server;
    connection.downNs = Math.max(connection.downNs, time.nowNs + faults.latencyMs() * NS_PER_MS);
    this.clock.incoming(connection.downNs - time.nowNs, `${this.name} < ${what}`, () => {
      if (!connection.broken) receive();
    });
  }

  /** Out of the network's own memory, whatever became of the connection. Nobody waits for what it brings about. */
  private copy(what: string, act: () => unknown): void {
    const { time, faults } = this.server;
    time.schedule((faults.latencyMs() + faults.copyMs()) * NS_PER_MS, `${this.name} > ${what} again`, () => {
      if (this.server.up) attempt(act);
    });
  }

  private lost(connection: Connection): void {
    if (this.connection !== connection) return;
    connection.broken = true;
    this.connection = undefined;
    if (!connection.silent) for (const i of this.interests) this.server.removeInterest(i);
    for (const id of [...this.inFlight.keys()]) this.settle(id, { error: undefined });
    this.turned('disconnected');
    if (!this.over) this.reconnect(this.clock);
  }

  private reconnect(clock: Clock): void {
    clock.after(RECONNECT_MS * (1 + this.random.number()), () => {
      if (this.over) return;
      const { time, faults } = this.server;
      if (!this.server.up || time.nowNs < this.cutUntilNs) return this.reconnect(clock);
      this.clock.incoming(2 * faults.latencyMs() * NS_PER_MS, `${this.name} connects`, () => {
        if (this.over) return;
        if (!this.server.up || time.nowNs < this.cutUntilNs) return this.reconnect(clock);
        this.connection = newLife(time.nowNs);
        for (const i of this.interests) this.server.addInterest(i);
        for (const session of [...this.sessions]) session.reconnected();
        this.turned('connected');
      });
    });
  }

  private turned(status: WireStatus): void {
    for (const fn of [...this.listeners]) fn(status);
  }
}

const NO_TIMER: Timer = { cancel: () => undefined };

const newLife = (nowNs: number): Connection => ({
  broken: false,
  silent: false,
  arrivesUntilNs: Infinity,
  upNs: nowNs,
  downNs: nowNs,
  heldUntilNs: 0,
});

function attempt(act: () => unknown): { value: unknown } | { error: unknown } {
  try {
    return { value: act() };
  } catch (error) {
    return { error };
  }
}
