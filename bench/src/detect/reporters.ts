import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { connect, jwtAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { readCredentials } from '#bus';
import {
  DetectionProfiles,
  inboxPrefix,
  Subjects,
  type PeerObservation,
  type PollAnswer,
  type PollRequest,
  type Report,
} from '#contracts';
import { DUE_SHARE } from '../../../apps/agent/src/links/link-observation.js';
import { pollNumbers } from '../../../apps/agent/src/poll/poll-round.js';
import type { Deed, ReporterPlan } from './many-fleet.js';

const { interval, misses: MISSES, suspectMisses, reportPeriod } = DetectionProfiles.lan;
/** ms of an agent's own loop: what has changed goes out in the next turn. */
const STEP = 20;
/** ms between the probes of one peer on its networks. */
const NETWORK_OFFSET = 5;
const RTT_US = 300;
/** Connections that are opened at once. */
const AT_ONCE = 25;

interface Reporter {
  name: string;
  nc: NatsConnection | undefined;
  /** Whom it watches, and when it probes each of them: ms after each multiple of the interval. */
  peers: Map<string, number>;
  reportAt: number;
  bootId: string;
  epoch: number;
  seq: number;
}

/**
 * Agents that send no datagrams: each watches whom a real one would, and says what a real one would count, with its own
 * NATS user and twice, as over two networks. Runs as a process of its own, told by its parent who dies and who returns.
 */
class Reporters {
  private readonly all = new Map<string, Reporter>();
  private readonly observers = new Map<string, Reporter[]>();
  /** Since when the dead are dead, monotonic ms. */
  private readonly dead = new Map<string, number>();

  constructor(private readonly plan: ReporterPlan) {
    const { nodes } = plan;
    nodes.forEach(({ name, peers }, i) => {
      // As the schedule of a real agent: spread evenly, from a phase of its own on.
      const probed = peers.map((peer, k): [string, number] => [peer, ((k / peers.length + i * 0.618) % 1) * interval]);
      const reportAt = performance.now() + (i / nodes.length) * reportPeriod;
      const fresh = { bootId: randomUUID(), epoch: 1, seq: 0 };
      this.all.set(name, { name, nc: undefined, peers: new Map(probed), reportAt, ...fresh });
    });
    for (const r of this.all.values())
      for (const peer of r.peers.keys()) this.observers.set(peer, [...(this.observers.get(peer) ?? []), r]);
  }

  /** Resolves when all are connected and report. */
  async start(): Promise<void> {
    const waiting = [...this.all.values()];
    const one = async (): Promise<void> => {
      for (let r = waiting.shift(); r !== undefined; r = waiting.shift()) await this.join(r);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    setInterval(() => this.turn(performance.now()), STEP);
  }

  async die(name: string): Promise<void> {
    const r = this.all.get(name) as Reporter;
    const now = performance.now();
    this.dead.set(name, now);
    for (const observer of this.observers.get(name) ?? [])
      for (const counted of [suspectMisses, MISSES]) this.sayAt(observer, this.missedAt(observer, name, now, counted));
    const nc = r.nc;
    r.nc = undefined;
    await nc?.close();
  }

  async rise(name: string): Promise<void> {
    const r = this.all.get(name) as Reporter;
    Object.assign(r, { bootId: randomUUID(), epoch: r.epoch + 1, seq: 0 });
    await this.join(r);
    this.dead.delete(name);
    const now = performance.now();
    for (const observer of this.observers.get(name) ?? []) this.sayAt(observer, now + interval);
  }

  private async join(r: Reporter): Promise<void> {
    const { user, seed, jwt } = readCredentials(`${this.plan.credentials}/agent=${r.name}.json`);
    const nc = await connect({
      servers: this.plan.nats,
      authenticator: jwtAuthenticator(jwt, new TextEncoder().encode(seed)),
      inboxPrefix: inboxPrefix(user),
      pingInterval: 1000,
      maxPingOut: 30,
      timeout: 20_000,
    });
    nc.subscribe(Subjects.poll(r.name), {
      callback: (_e, msg) => {
        const request = JSON.parse(msg.string()) as PollRequest;
        // Whoever answers does so at once; the silent are waited for.
        const wait = request.targets.some((t) => this.dead.has(t.name)) ? pollNumbers.limit : 1;
        setTimeout(() => r.nc === nc && msg.respond(JSON.stringify(this.looked(r, request))), wait);
      },
    });
    r.nc = nc;
  }

  private looked(r: Reporter, { targets }: PollRequest): PollAnswer {
    const answer = targets.map(({ name }) => {
      const tried = this.dead.has(name) ? { sent: pollNumbers.probes, answered: 0 } : { sent: 1, answered: 1 };
      return { name, networks: Object.fromEntries(this.plan.networks.map((network) => [network, tried])) };
    });
    return { node: r.name, epoch: r.epoch, abstain: false, targets: answer };
  }

  private turn(now: number): void {
    for (const r of this.all.values()) {
      if (r.nc === undefined || r.reportAt > now) continue;
      r.reportAt += reportPeriod;
      this.say(r, now);
    }
  }

  private sayAt(r: Reporter, at: number): void {
    setTimeout(() => this.say(r, performance.now()), Math.max(0, at + STEP - performance.now()));
  }

  private say(r: Reporter, now: number): void {
    if (r.nc === undefined) return;
    const text = JSON.stringify(this.report(r, now));
    for (const _network of this.plan.networks) r.nc.publish(Subjects.report(r.name), text);
  }

  private report(r: Reporter, now: number): Report {
    const peers = [...r.peers.keys()].map((peer): PeerObservation => {
      const diedAt = this.dead.get(peer);
      return [
        peer,
        this.plan.networks.map((_network, i) => {
          const misses = diedAt === undefined ? 0 : this.misses(r, peer, diedAt, now - i * NETWORK_OFFSET);
          return [misses, misses >= MISSES ? -1 : RTT_US];
        }),
      ];
    });
    const { name: node, bootId, epoch } = r;
    const counts = { lost: 0, greeted: 0, joined: 0, lostNow: 0 };
    const metrics = { rssBytes: 5e7, cpuMs: Math.round(now), standstills: 0, sent: r.seq * 64, received: r.seq * 64 };
    const health = { abstain: false, sendErrors: {}, loopGapMs: STEP };
    return {
      v: 1,
      node,
      bootId,
      epoch,
      seq: ++r.seq,
      listVersion: 1,
      networks: this.plan.networks,
      peers,
      health: { ...health, metrics: { ...metrics, dropped: {}, rejoin: { runs: { timer: 1 }, ...counts } } },
    };
  }

  /** When the observer has missed so many of its probes on every network. */
  private missedAt(r: Reporter, peer: string, diedAt: number, counted: number): number {
    const offset = (r.peers.get(peer) ?? 0) + NETWORK_OFFSET * (this.plan.networks.length - 1);
    const first = Math.ceil((diedAt - offset) / interval) * interval + offset;
    return first + (counted - 1 + DUE_SHARE) * interval;
  }

  private misses(r: Reporter, peer: string, diedAt: number, now: number): number {
    const offset = r.peers.get(peer) ?? 0;
    const first = Math.ceil((diedAt - offset) / interval) * interval + offset;
    return Math.max(0, Math.floor((now - first - DUE_SHARE * interval) / interval) + 1);
  }
}

let reporters: Reporters | undefined;
process.on('message', (deed: Deed) => {
  const act = async (): Promise<void> => {
    if (deed.verb === 'start') await (reporters = new Reporters(deed.plan)).start();
    else await reporters?.[deed.verb](deed.name);
  };
  act().then(
    () => process.send?.({ id: deed.id }),
    (e: unknown) => process.send?.({ id: deed.id, failed: String(e) }),
  );
});
