import { bootMark, DatagramTypes, type DatagramKeys } from '#contracts/wire/datagram.js';
import type { Clock } from '#contracts/ports/clock.js';
import type { Random } from '#contracts/ports/random.js';
import type { PeerList } from '#contracts/wire/peers.js';
import type { PollAnswer, PollRequest } from '#contracts/wire/poll.js';
import { silenceTimeout } from '#contracts/settings/settings.js';
import type { AgentConfig } from './config/agent-config.js';
import { LinkObservations } from './links/link-observation.js';
import { ProbeSchedule } from './links/probe-schedule.js';
import { untilNextStep } from './loop-step.js';
import type { AgentLog } from './log/agent-log.js';
import { RejoinAttempts } from './membership/rejoin-attempts.js';
import { Membership, membershipNumbers } from './membership/membership.js';
import { NetworkWatch } from './membership/network-watch.js';
import { RejoinDiary, type RejoinWhy } from './membership/rejoin-diary.js';
import type { KnownPeers } from './peers/known-peers.js';
import { Polls } from './poll/polls.js';
import { whyAbstain } from './report/build-report.js';
import { addressesElsewhere } from './report/own-health.js';
import { Datagrams, type Heard } from './wire/datagrams.js';
import type { DropCounters } from './wire/drop-counters.js';
import { Identities } from './wire/identities.js';
import { UdpSocket } from './wire/udp-socket.js';

/** A peer is lost after this many times the misses that make it silent: full rate while a power-off is decided. */
const LOST_FACTOR = 4;
/** ms; a peer with another list version makes us ask for ours, but not more often. */
const HINT_GAP = 10_000;
/** ms between two questions to our own registered address, while we are bound to another one. */
const NAMESAKE_PERIOD = 10_000;

export interface ProberParts {
  config: AgentConfig;
  keys: DatagramKeys;
  epoch: number;
  bootId: string;
  known: KnownPeers;
  counters: DropCounters;
  /** A peer goes by another list of peers. */
  onOtherList: () => void;
  isLeaving: () => boolean;
  clock: Clock;
  random: Random;
  log: AgentLog;
}

/** What goes over the networks: probes, rejoin attempts and their answers, and what follows from them for each peer. */
export class Prober {
  readonly links: LinkObservations;
  readonly membership: Membership;
  readonly identities: Identities;
  readonly sockets: ReadonlyMap<string, UdpSocket>;
  private readonly schedule = new ProbeSchedule();
  private readonly attempts = new RejoinAttempts();
  private readonly watches: Map<string, NetworkWatch>;
  private readonly polls: Polls;
  private readonly datagrams: Datagrams;
  /** 0…1 of the probe interval. */
  private readonly phase: number;
  /** Networks on which nothing leaves, as of the last step. */
  private readonly muteOn = new Set<string>();
  private muteChanges = 0;
  private hintedAt = -Infinity;
  private namesakeAt = -Infinity;

  constructor(
    private readonly p: ProberParts,
    now: number,
  ) {
    const { clock, config, epoch, known, random } = p;
    const networks = known.networks;
    this.phase = random.number();
    this.links = new LinkObservations(known.detection);
    this.membership = new Membership(
      membershipNumbers,
      () => random.number(),
      now,
      new RejoinDiary(clock),
      config.rejoin,
    );
    this.watches = new Map(networks.map((n) => [n, new NetworkWatch(now)]));
    const boot = bootMark(p.bootId);
    this.identities = new Identities(config.node, { epoch: BigInt(epoch), boot });
    this.datagrams = new Datagrams(
      { name: config.node, epoch, boot, listVersion: () => known.version },
      networks,
      p.keys,
      p.counters,
      {
        polled: (...echo) => this.polls.echo(...echo),
        asUs: (other, at) => this.identities.asUs(other, at),
      },
    );
    this.sockets = new Map(networks.map((n) => [n, this.socketOf(n)]));
    this.polls = new Polls({
      node: config.node,
      epoch,
      networks,
      question: ({ target, network }) => this.datagrams.question(DatagramTypes.PROBE, target, network),
      send: ({ network, address }, port, bytes, unsent) =>
        this.sockets.get(network)?.send(bytes, address, port, unsent),
      abstains: (at) => p.isLeaving() || this.whyAbstain(at) !== undefined,
    });
  }

  /** Rejects when a port is taken. */
  async open(): Promise<void> {
    for (const socket of this.sockets.values()) await socket.open();
  }

  close(): void {
    for (const socket of this.sockets.values()) socket.close();
  }

  /** Another list of peers is in use. @param moved peers that have another address now */
  followList(list: PeerList, moved: readonly string[], now: number): void {
    const { shared } = this.p.known;
    this.datagrams.know(shared.keys());
    this.identities.know(new Set(shared.keys()));
    this.links.tune(list.detection);
    this.links.watch(shared);
    // What was missed at the old address says nothing of the new one.
    for (const name of moved) this.links.reset(name);
    this.readmit();
    this.schedule.set(shared, list.detection.interval, now, this.phase);
    this.membership.setPeers(shared.keys(), now);
  }

  /** Our own loop did not run for too long: nothing that was under way says anything. */
  stoodStill(gap: number, now: number): void {
    this.links.stoodStill(gap, now);
    this.polls.stoodStill();
    this.schedule.skipTo(now);
    this.readmit();
  }

  /** Whole ms until the next {@link step}. */
  untilNextStep(now: number): number {
    return untilNextStep(this.p.known.detection, now, this.links.nextMissDue());
  }

  /** Judges what was due, and sends what is. */
  step(now: number): void {
    this.links.judge(now);
    this.loseSilent(now);
    const free = (t: { peer: string; network: string }): boolean =>
      this.links.link(t.peer, t.network)?.pending === undefined;
    for (const t of this.schedule.due(now, free))
      if (!this.membership.isLost(t.peer)) this.probe(t.peer, t.network, now);
    this.polls.step(now);
    for (const [network, watch] of this.watches) {
      const errors = this.sendErrorsOn(network, now);
      if (errors > 0 !== this.muteOn.has(network)) this.turnMute(network, errors > 0);
      if (watch.update(now, silenceTimeout(this.p.known.detection), errors)) this.rejoinLost('link-up', now);
    }
    for (const { peer, network } of this.attempts.expire(now))
      if (this.membership.isLost(peer)) this.links.rejoinSent(peer, network);
    for (const { peer } of this.membership.next(now)) this.attemptRejoin(peer, now);
    this.askNamesake(now);
  }

  /** Something changed: those that are lost are asked to rejoin now. */
  rejoinLost(why: RejoinWhy, now: number): void {
    this.membership.trigger(now, why);
  }

  /** What the monitor asks us to look at. @param key the same for the copies of one request */
  poll(request: PollRequest, key: string, now: number): Promise<PollAnswer> {
    return this.polls.begin(request, key, now);
  }

  /** A PROBE to this peer, to be sent by another socket: nobody waits for its echo. */
  probeOf(peer: string, network: string): Buffer {
    return this.datagrams.question(DatagramTypes.PROBE, peer, network).bytes;
  }

  /** Grows with everything that others must hear at once. */
  get changes(): number {
    return this.links.changes + this.muteChanges;
  }

  /** Network → datagrams in a row that did not leave, to anybody; 0 where some do. */
  sendErrors(now: number): Record<string, number> {
    return Object.fromEntries([...this.sockets.keys()].map((n) => [n, this.sendErrorsOn(n, now)]));
  }

  private sendErrorsOn(network: string, now: number): number {
    return this.sockets.get(network)?.failures.total(this.p.known.detection, now) ?? 0;
  }

  private turnMute(network: string, mute: boolean): void {
    this.muteChanges++;
    if (mute) this.muteOn.add(network);
    else this.muteOn.delete(network);
    const reason = this.sockets.get(network)?.lastError;
    if (mute) this.p.log.warn('nothing can be sent', { network, reason });
    else this.p.log.info('it can be sent again', { network });
  }

  private whyAbstain(now: number): string | undefined {
    return whyAbstain({
      links: this.links,
      networks: this.p.known.networks,
      sendErrors: this.sendErrors(now),
      now,
    });
  }

  private loseSilent(now: number): void {
    const { known, log } = this.p;
    for (const peer of known.shared.keys()) {
      if (this.membership.isLost(peer) || !this.links.silentFor(peer, known.detection.misses * LOST_FACTOR)) continue;
      this.links.leave(peer);
      this.membership.lose(peer, now);
      log.warn('peer lost', { peer });
    }
  }

  private probe(peer: string, network: string, now: number): void {
    const { bytes, nonce } = this.datagrams.question(DatagramTypes.PROBE, peer, network);
    this.links.sent(peer, network, nonce, now);
    this.send(peer, network, bytes, (why) => this.links.unsent(nonce, now, why));
  }

  private attemptRejoin(peer: string, now: number): void {
    for (const network of this.p.known.shared.get(peer) ?? []) {
      const { bytes, nonce } = this.datagrams.question(DatagramTypes.HELLO, peer, network);
      this.attempts.sent(nonce, peer, network, now + membershipNumbers.limit);
      this.send(peer, network, bytes, (why) => {
        this.attempts.failed(nonce);
        this.links.rejoinUnsent(peer, network, now, why);
        this.readmit();
      });
    }
  }

  /** Whoever is proven silent no more is to be examined at the full rate: else nobody would report it down again. */
  private readmit(): void {
    this.membership.readmitUnless((peer) => this.links.silentFor(peer, this.p.known.detection.misses));
  }

  private send(peer: string, network: string, bytes: Buffer, failed: (why: string) => void): void {
    const { known } = this.p;
    const address = known.addressOf(peer, network);
    if (address === undefined || !known.list) failed('its address is not known');
    else this.sockets.get(network)?.send(bytes, address, known.list.port, failed);
  }

  /** While we are bound to another address than the registry has: does somebody else live there under our name? */
  private askNamesake(now: number): void {
    const { config, known } = this.p;
    if (now - this.namesakeAt < NAMESAKE_PERIOD || !known.list) return;
    this.namesakeAt = now;
    for (const [network, address] of addressesElsewhere(config.networks, known.list)) {
      const { bytes } = this.datagrams.question(DatagramTypes.HELLO, config.node, network);
      this.sockets.get(network)?.send(bytes, address, known.list.port, () => undefined);
    }
  }

  /** @param answer goes back to where it came from, whatever the registry has for that name */
  private receive(heard: Heard, now: number, answer: (bytes: Buffer) => void): void {
    const { peer, network } = heard;
    if (this.identities.heard(peer, heard, now)) {
      const { bytes, nonce } = this.datagrams.question(DatagramTypes.HELLO, peer, network);
      this.identities.asked(peer, nonce, now);
      answer(bytes);
    }
    if (heard.kind === 'welcome' && this.identities.answered(peer, heard, heard.nonce, now)) return;
    if (this.watches.get(network)?.heard(now)) this.rejoinLost('link-up', now);
    if (heard.kind === 'echo') {
      if (!this.links.echo(peer, network, heard.nonce, now)) this.p.counters.drop('late-or-duplicate');
      return;
    }
    if (heard.listVersion !== (this.p.known.version & 0xffff) && now - this.hintedAt > HINT_GAP) {
      this.hintedAt = now;
      this.p.onOtherList();
    }
    if (heard.kind !== 'welcome') {
      // Whoever asks is alive, or is a replay: an attempt with a fresh nonce tells.
      this.membership.attemptSoon(peer);
    } else if (!this.attempts.welcomed(heard.nonce, peer, network, now)) {
      this.p.counters.drop('late-or-duplicate');
    } else if (this.membership.welcome(peer)) {
      this.links.reset(peer);
      this.p.log.info('peer is a member again', { peer, network });
    }
  }

  private socketOf(network: string): UdpSocket {
    const { clock, config, log } = this.p;
    const bind = config.networks[network]?.bind as string;
    const socket: UdpSocket = new UdpSocket(
      network,
      bind,
      config.port,
      {
        onUp: () => this.rejoinLost('link-up', clock.monotonicMs()),
        onDatagram: (bytes, from) => {
          const now = clock.monotonicMs();
          const answer = (reply: Buffer): void => socket.send(reply, from.address, from.port, () => undefined);
          const heard = this.datagrams.receive(bytes, network, now, answer);
          if (heard) this.receive(heard, now, answer);
        },
      },
      clock,
      log,
    );
    return socket;
  }
}
