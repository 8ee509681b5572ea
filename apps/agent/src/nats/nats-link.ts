import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { dial } from '#bus/nats/dial.js';
import { inboxPrefix, isInbox } from '#contracts/names/names.js';
import { natsTls, tlsFault } from '#contracts/keys/nats-tls.js';
import { proofOf } from '#contracts/keys/nkey.js';
import type { Clock } from '#contracts/ports/clock.js';
import type { Random } from '#contracts/ports/random.js';
import { reasonOf, type AgentLog } from '../log/agent-log.js';
import { sameServers, serversToTry } from './servers-to-try.js';

/** This agent's NATS user, as its enrolment gave it. */
export interface NatsCredentials {
  user: string;
  /** Secret. */
  seed: string;
  jwt: string;
  /** PEM: the CA of the servers' certificates; with it there is TLS or no connection. @default no TLS */
  ca?: string;
}

/** What this agent listens to on every connection: what it is told, or, where `fn` gives an answer, what it is asked. */
export interface NatsEar {
  subject: string;
  /** `key` is the same for the copies of one question that come over several connections. */
  fn: (text: string, key: string) => void | Promise<string | undefined>;
}

export interface NatsLinkOptions {
  network: string;
  /** As this host is configured. */
  servers: readonly string[];
  node: string;
  credentials?: NatsCredentials;
  ears: NatsEar[];
  onUp: () => void;
  clock: Clock;
  random: Random;
  log: AgentLog;
}

/** Ping and reconnect times as for every client of Muster: a silent cut is noticed within 3 s, and tried for ever. */
const times = { pingInterval: 1000, maxPingOut: 2, reconnectTimeWait: 250, reconnectJitter: 250, timeout: 2000 };

/** The connection over one network: it comes, goes and comes back by itself, and nobody waits for it. */
export class NatsLink {
  private nc: NatsConnection | undefined;
  private connected = false;
  private closing = false;
  /** By the control plane. */
  private named: readonly string[] | undefined;
  /** Those that the connection was made with: it comes back to one of them, and to no other. */
  private used: readonly string[] = [];

  constructor(private readonly o: NatsLinkOptions) {}

  get network(): string {
    return this.o.network;
  }

  get up(): boolean {
    return this.connected;
  }

  start(): void {
    void this.keep();
  }

  /**
   * Where the control plane says that NATS is reached over this network; undefined: it does not say. A connection that
   * works stays; the next one is made by it.
   */
  follow(servers: readonly string[] | undefined): void {
    this.named = servers;
    this.leaveOutdated();
  }

  /** Dropped while disconnected: a report kept for later would pass for a fresh one. */
  publish(subject: string, text: string): boolean {
    if (!this.nc || !this.connected) return false;
    this.nc.publish(subject, text);
    return true;
  }

  async request(subject: string, text: string, timeoutMs: number): Promise<string> {
    if (!this.nc || !this.connected) throw new Error(`no NATS server over ${this.o.network}`);
    return (await this.nc.request(subject, text, { timeout: timeoutMs })).string();
  }

  /** Resolves when what was published has reached the server, or after the limit. */
  async flush(limitMs: number): Promise<void> {
    if (!this.nc || !this.connected) return;
    await Promise.race([this.nc.flush(), this.o.clock.sleep(limitMs, { background: true })]);
  }

  async close(): Promise<void> {
    this.closing = true;
    await this.nc?.close();
  }

  private async keep(): Promise<void> {
    for (let failures = 0; !this.closing;) {
      this.used = serversToTry(this.o.servers, this.named, failures);
      try {
        this.nc = await this.connectOnce(this.used);
      } catch (e) {
        if (failures++ === 0)
          this.o.log.warn('no NATS connection yet', { network: this.o.network, reason: this.reasonOf(e) });
        await this.o.clock.sleep(250 + this.o.random.number() * 250);
        continue;
      }
      failures = 0;
      await this.attend(this.nc);
    }
  }

  /** One that was lost would come back to servers that are not named any more, and try them for ever. */
  private leaveOutdated(): void {
    if (this.connected || sameServers(this.used, this.named ?? this.o.servers)) return;
    void this.nc?.close();
  }

  private reasonOf(error: unknown): string {
    const fault = tlsFault(error, this.o.credentials?.ca);
    return fault === undefined ? reasonOf(error) : `${this.used.join(', ')}: ${fault}`;
  }

  private connectOnce(servers: readonly string[]): Promise<NatsConnection> {
    const { credentials } = this.o;
    return dial({
      name: `agent ${this.o.node} (${this.o.network})`,
      servers: [...servers],
      ...times,
      ...natsTls(credentials?.ca, servers),
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      ...(credentials && {
        authenticator: proofOf(credentials),
        inboxPrefix: inboxPrefix(credentials.user),
      }),
    });
  }

  /** Until the connection is closed for good. */
  private async attend(nc: NatsConnection): Promise<void> {
    for (const ear of this.o.ears)
      nc.subscribe(ear.subject, {
        callback: (e, m) => {
          if (e) this.o.log.warn('cannot listen', { subject: ear.subject, reason: reasonOf(e) });
          else void this.receive(ear, m);
        },
      });
    this.turn(true);
    for await (const s of nc.status()) {
      if (s.type === 'disconnect' || s.type === 'staleConnection') {
        this.turn(false);
        this.leaveOutdated();
      } else if (s.type === 'reconnect') this.turn(true);
      else if (s.type === 'error') this.o.log.warn('NATS refused something', { reason: reasonOf(s.error) });
      else if (s.type === 'close') break;
    }
    this.turn(false);
  }

  private async receive(ear: NatsEar, m: Msg): Promise<void> {
    try {
      const answer = await ear.fn(m.string(), m.reply ?? '');
      if (answer !== undefined && m.reply !== undefined && isInbox(m.reply)) m.respond(answer);
    } catch (e) {
      this.o.log.warn('a message could not be handled', { subject: ear.subject, reason: reasonOf(e) });
    }
  }

  private turn(up: boolean): void {
    if (this.connected === up) return;
    this.connected = up;
    if (this.closing) return;
    this.o.log.info(up ? 'NATS connected' : 'NATS connection lost', { network: this.o.network });
    if (up) this.o.onUp();
  }
}
