import { DatagramTypes } from '#contracts/datagram.js';
import { MusterError } from '#contracts/errors.js';
import type { GateRequest, PeerList } from '#contracts/peers.js';
import type { AgentMetrics, Leaving, Report } from '#contracts/report.js';
import { DetectionProfiles, silence, type DetectionSettings } from '#contracts/settings.js';
import { Subjects } from '#contracts/subjects.js';
import type { AgentConfig } from './config.js';
import type { AgentStatus } from './control/agent-status.js';
import { GATE_LIMIT, judgeGate } from './control/gate-question.js';
import { StatusSocket, type SocketRequest } from './control/status-socket.js';
import { LinkObservations } from './links/link-observation.js';
import { ProbeSchedule } from './links/probe-schedule.js';
import { reasonOf, type AgentLog } from './log.js';
import { Greetings } from './membership/greetings.js';
import { Membership, membershipNumbers } from './membership/membership.js';
import { NetworkWatch } from './membership/network-watch.js';
import type { RejoinWhy } from './membership/rejoin-diary.js';
import { NatsLink, type NatsCredentials } from './nats/nats-link.js';
import { NatsLinks } from './nats/nats-links.js';
import { PeerCache } from './peers/peer-cache.js';
import { Refresher } from './peers/refresher.js';
import { parsePollRequest } from './poll/parse-poll-request.js';
import { Polls } from './poll/polls.js';
import { buildReport, whyAbstain } from './report/build-report.js';
import { addressesElsewhere, metricsOf, wireWarnings } from './report/own-health.js';
import { ReportTiming } from './report/report-timing.js';
import { WorkloadWatch } from './report/workload-watch.js';
import { Datagrams, type Heard } from './wire/datagrams.js';
import { DropCounters } from './wire/drop-counters.js';
import { Identities } from './wire/identities.js';
import { PlainEcho } from './wire/plain-echo.js';
import { UdpSocket } from './wire/udp-socket.js';
import { listByCommand, listRunning } from './workload/running.js';

/** ms between two steps of the loop; a probe is sent and judged with this precision. */
const STEP = 20;
/** A peer is lost after this many times the misses that make it silent: full rate while a power-off is decided. */
const LOST_FACTOR = 4;
/** ms; a peer with another list version makes us ask for ours, but not more often. */
const HINT_GAP = 10_000;
/** ms between two reports that carry metrics; the first does. */
const METRICS_PERIOD = 5_000;
/** ms between two questions to our own registered address, while we are bound to another one. */
const NAMESAKE_PERIOD = 10_000;
/** ms for the last word to leave. */
const FAREWELL = 500;

export interface AgentParts {
  config: AgentConfig;
  keys: Buffer[];
  credentials?: NatsCredentials;
  epoch: number;
  bootId: string;
  log: AgentLog;
}

/** One node's senses: probes its peers, answers theirs, and tells the monitor what it hears. */
export class Agent {
  private readonly networks: string[];
  private readonly counters = new DropCounters();
  private readonly links: LinkObservations;
  private readonly schedule = new ProbeSchedule();
  private readonly membership: Membership;
  private readonly greetings = new Greetings();
  private readonly watches: Map<string, NetworkWatch>;
  private readonly polls: Polls;
  private readonly identities: Identities;
  private readonly datagrams: Datagrams;
  private readonly sockets: Map<string, UdpSocket>;
  private readonly plain: PlainEcho | undefined;
  private readonly nats: NatsLinks;
  private readonly refresher: Refresher;
  private readonly workloads: WorkloadWatch;
  private readonly socket: StatusSocket;
  private readonly timing = new ReportTiming(() => this.detection.reportPeriod);
  private readonly phase = Math.random();
  private detection: DetectionSettings = DetectionProfiles.lan;
  /** Peer → networks that we share with it. */
  private shared = new Map<string, string[]>();
  private list: PeerList | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private lastStep = performance.now();
  private gapSinceReport = 0;
  private standstills = 0;
  private hintedAt = -Infinity;
  private metricsAt = -Infinity;
  private namesakeAt = -Infinity;
  private seq = 0;
  private otherChanges = 0;
  private abstained = false;
  private leaving: Leaving | undefined;

  constructor(private readonly p: AgentParts) {
    const { config, log } = p;
    this.networks = Object.keys(config.networks).sort();
    this.links = new LinkObservations(this.detection);
    this.membership = new Membership(membershipNumbers, Math.random, this.lastStep, config.rejoin);
    this.watches = new Map(this.networks.map((n) => [n, new NetworkWatch(this.lastStep)]));
    this.identities = new Identities(config.node, p.epoch);
    this.datagrams = new Datagrams(
      { name: config.node, epoch: p.epoch, listVersion: () => this.list?.version ?? 0 },
      this.networks,
      { cluster: config.cluster, keys: p.keys },
      this.counters,
      {
        polled: (...echo) => this.polls.echo(...echo),
        asUs: (epoch, now) => this.identities.asUs(epoch, now),
      },
    );
    this.sockets = new Map(this.networks.map((n) => [n, this.socketOf(n)]));
    this.plain = config.plain && new PlainEcho(config.networks, config.plain.port, log);
    this.polls = new Polls({
      node: config.node,
      epoch: p.epoch,
      networks: this.networks,
      question: ({ target, network }) => this.datagrams.question(DatagramTypes.PROBE, target, network),
      send: ({ network, address }, port, bytes, unsent) =>
        this.sockets.get(network)?.send(bytes, address, port, unsent),
      abstains: (now) => this.leaving !== undefined || this.whyAbstain(now) !== undefined,
    });
    const ears = [
      { subject: Subjects.peersChanged(config.node), fn: () => this.onPeersChanged() },
      { subject: Subjects.poll(config.node), fn: (text: string, key: string) => this.answerPoll(text, key) },
    ];
    this.nats = new NatsLinks(
      Object.entries(config.nats).map(
        ([network, servers]) =>
          new NatsLink({
            network,
            servers,
            node: config.node,
            ...(p.credentials && { credentials: p.credentials }),
            ears,
            onUp: () => this.onNats(),
            log,
          }),
      ),
    );
    this.refresher = new Refresher({
      self: config,
      cache: new PeerCache(config.stateDir, config),
      ask: (ms) => this.nats.request(Subjects.peers(config.node), '{}', ms),
      accept: (list) => this.accept(list),
      log,
    });
    const { lister } = config;
    this.workloads = new WorkloadWatch(
      lister ? () => listByCommand(lister) : listRunning,
      () => this.otherChanges++,
      log,
    );
    this.socket = new StatusSocket(config.socket, (r) => this.answer(r), log);
  }

  /** Resolves when everything has begun; rejects when a port or the socket is taken. */
  async start(): Promise<void> {
    await this.socket.open();
    for (const socket of this.sockets.values()) await socket.open();
    await this.plain?.open();
    this.nats.start();
    await this.refresher.start();
    this.workloads.look();
    this.lastStep = performance.now();
    this.plan();
    this.p.log.info('agent started', { epoch: this.p.epoch, peers: this.shared.size, networks: this.networks });
  }

  /** Says that it goes, and why, then goes. */
  async stop(kind: Leaving['kind']): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    clearTimeout(this.timer);
    this.refresher.stop();
    this.workloads.stop();
    this.leaving = { kind, bootId: this.p.bootId };
    this.publish(performance.now());
    await this.nats.flush(FAREWELL);
    for (const socket of this.sockets.values()) socket.close();
    this.plain?.close();
    this.socket.close();
    await this.nats.close();
    this.p.log.info('agent stopped', { kind });
  }

  private plan(): void {
    // After the poll phase: an echo that is already in the buffer is read before its probe is judged.
    this.timer = setTimeout(() => setImmediate(() => this.step(performance.now())), STEP);
  }

  private step(now: number): void {
    if (this.stopped) return;
    const gap = now - this.lastStep;
    this.lastStep = now;
    this.gapSinceReport = Math.max(this.gapSinceReport, gap);
    if (gap > this.detection.loopGap) {
      this.standstills++;
      this.links.stoodStill(gap, now);
      this.polls.stoodStill();
      this.schedule.skipTo(now);
      this.membership.readmitUnless((peer) => this.links.silentFor(peer, this.detection.misses));
    }
    this.links.judge(now);
    for (const peer of this.shared.keys())
      if (!this.membership.isLost(peer) && this.links.silentFor(peer, this.detection.misses * LOST_FACTOR)) {
        this.links.leave(peer);
        this.membership.lose(peer, now);
        this.p.log.warn('peer lost', { peer });
      }
    const free = (t: { peer: string; network: string }): boolean =>
      this.links.link(t.peer, t.network)?.pending === undefined;
    for (const t of this.schedule.due(now, free))
      if (!this.membership.isLost(t.peer)) this.probe(t.peer, t.network, now);
    this.polls.step(now);
    for (const [network, watch] of this.watches)
      if (watch.look(now, silence(this.detection), this.sockets.get(network)?.sendErrors ?? 0))
        this.lookAtLost('link-up');
    this.greetings.expire(now);
    for (const { peer } of this.membership.next(now)) this.greet(peer, now);
    this.askNamesake(now);
    if (this.links.abstains(now) !== this.abstained) {
      this.abstained = !this.abstained;
      this.otherChanges++;
    }
    if (this.timing.due(now, this.links.changes + this.otherChanges)) this.publish(now);
    this.plan();
  }

  private probe(peer: string, network: string, now: number): void {
    const { bytes, nonce } = this.datagrams.question(DatagramTypes.PROBE, peer, network);
    this.links.sent(peer, network, nonce, now);
    this.send(peer, network, bytes, () => this.links.unsent(nonce));
  }

  private greet(peer: string, now: number): void {
    for (const network of this.shared.get(peer) ?? []) {
      const { bytes, nonce } = this.datagrams.question(DatagramTypes.HELLO, peer, network);
      this.greetings.sent(nonce, peer, network, now + membershipNumbers.limit);
      this.send(peer, network, bytes, () => undefined);
    }
  }

  private send(peer: string, network: string, bytes: Buffer, failed: () => void): void {
    const address = this.list?.peers.find((p) => p.name === peer)?.networks[network];
    if (address === undefined || !this.list) failed();
    else this.sockets.get(network)?.send(bytes, address, this.list.port, failed);
  }

  /** While we are bound to another address than the registry has: does somebody else live there under our name? */
  private askNamesake(now: number): void {
    if (now - this.namesakeAt < NAMESAKE_PERIOD || !this.list) return;
    this.namesakeAt = now;
    for (const [network, address] of addressesElsewhere(this.p.config.networks, this.list)) {
      const { bytes } = this.datagrams.question(DatagramTypes.HELLO, this.p.config.node, network);
      this.sockets.get(network)?.send(bytes, address, this.list.port, () => undefined);
    }
  }

  private hear(heard: Heard, now: number): void {
    const { peer, network } = heard;
    this.identities.heard(peer, heard.epoch, now);
    if (this.watches.get(network)?.heard(now)) this.lookAtLost('link-up');
    if (heard.kind === 'echo') {
      if (!this.links.echo(peer, network, heard.nonce, now)) this.counters.drop('late-or-duplicate');
      return;
    }
    if (heard.listVersion !== ((this.list?.version ?? 0) & 0xffff) && now - this.hintedAt > HINT_GAP) {
      this.hintedAt = now;
      this.refresher.refresh();
    }
    if (heard.kind !== 'welcome') {
      // Whoever asks is alive, or is a replay: a greeting with a fresh nonce tells.
      this.membership.greetSoon(peer);
    } else if (!this.greetings.welcomed(heard.nonce, peer, network, now)) {
      this.counters.drop('late-or-duplicate');
    } else if (this.membership.welcome(peer)) {
      this.links.reset(peer);
      this.p.log.info('peer is a member again', { peer, network });
    }
  }

  private accept(list: PeerList): void {
    const now = performance.now();
    const moved = (this.list?.peers ?? []).filter((old) => {
      const peer = list.peers.find((p) => p.name === old.name);
      return Object.entries(old.networks).some(([n, address]) => (peer?.networks[n] ?? address) !== address);
    });
    this.list = list;
    this.detection = list.detection;
    this.shared = new Map(list.peers.map((p) => [p.name, this.networks.filter((n) => n in p.networks)]));
    this.datagrams.know(this.shared.keys());
    this.identities.know(new Set(this.shared.keys()));
    this.links.tune(list.detection);
    this.links.watch(this.shared);
    // What was missed at the old address says nothing of the new one.
    for (const { name } of moved) this.links.reset(name);
    this.membership.readmitUnless((peer) => this.links.silentFor(peer, list.detection.misses));
    this.schedule.set(this.shared, list.detection.interval, now, this.phase);
    this.membership.setPeers(this.shared.keys(), now);
    this.otherChanges++;
    this.p.log.info('peer list', { version: list.version, peers: this.shared.size });
  }

  private onNats(): void {
    this.otherChanges++;
    this.lookAtLost('nats');
    this.refresher.refresh();
  }

  private onPeersChanged(): void {
    this.lookAtLost('peer-list');
    this.refresher.refresh();
  }

  private lookAtLost(why: RejoinWhy): void {
    this.membership.trigger(performance.now(), why);
  }

  private async answerPoll(text: string, key: string): Promise<string> {
    try {
      return JSON.stringify(await this.polls.begin(parsePollRequest(text), key, performance.now()));
    } catch (e) {
      return JSON.stringify(new MusterError('BAD_REQUEST', `the poll ${reasonOf(e)}`));
    }
  }

  private whyAbstain(now: number): string | undefined {
    return whyAbstain({ links: this.links, networks: this.networks, sendErrors: this.sendErrors(), now });
  }

  private sendErrors(): Record<string, number> {
    return Object.fromEntries([...this.sockets].map(([n, s]) => [n, s.sendErrors]));
  }

  private publish(now: number): void {
    const withMetrics = now - this.metricsAt >= METRICS_PERIOD;
    if (withMetrics) this.metricsAt = now;
    const report = this.report(now, ++this.seq, withMetrics ? this.metrics() : undefined);
    this.nats.publish(Subjects.report(this.p.config.node), JSON.stringify(report));
    this.gapSinceReport = 0;
  }

  private metrics(): AgentMetrics {
    const rejoin = this.membership.diary.counts(this.membership.lostPeers().length);
    return metricsOf(this.sockets.values(), this.counters, rejoin, this.standstills);
  }

  private report(now: number, seq: number, metrics: AgentMetrics | undefined): Report {
    return buildReport({
      node: this.p.config.node,
      bootId: this.p.bootId,
      epoch: this.p.epoch,
      seq,
      listVersion: this.list?.version ?? 0,
      networks: this.networks,
      peers: this.shared.keys(),
      links: this.links,
      now,
      sendErrors: this.sendErrors(),
      loopGapMs: this.gapSinceReport,
      warnings: [
        this.refresher.warning,
        this.workloads.warning,
        ...wireWarnings(this.sockets.values(), this.p.config.networks, this.list),
        ...this.identities.warnings(now),
      ].filter((w) => w !== undefined),
      metrics,
      workloads: this.workloads.running,
      leaving: this.leaving,
    });
  }

  private async answer(request: SocketRequest): Promise<unknown> {
    switch (request.op) {
      case 'gate':
        return this.gate(request.workload, request.generation);
      case 'workloads-changed':
        this.workloads.look();
        return { ok: true };
      case 'status':
        return this.status(performance.now());
      default:
        throw new Error('unknown op');
    }
  }

  private status(now: number): AgentStatus {
    return {
      ...this.report(now, this.seq, this.metrics()),
      list: this.list ?? null,
      nats: this.nats.connected(),
      sockets: [...this.sockets.values()].map(({ network, up, bufferBytes, lastError }) => ({
        network,
        up,
        bufferBytes,
        lastError: lastError ?? null,
      })),
      rejoin: {
        switches: this.membership.switches,
        lost: this.membership.lostPeers(),
        isolated: this.membership.isolated(),
        nextRunInMs: this.membership.nextRunIn(now) ?? null,
        happenings: this.membership.diary.happenings(),
      },
      ...(this.plain && { plainAnswered: this.plain.answered }),
    };
  }

  private async gate(workload: string, generation: number | undefined): Promise<unknown> {
    if (typeof workload !== 'string') return { allowed: false, reason: 'no workload was named' };
    try {
      const request: GateRequest = { workload, bootId: this.p.bootId };
      const text = JSON.stringify(request);
      return judgeGate(await this.nats.request(Subjects.gate(this.p.config.node), text, GATE_LIMIT), generation);
    } catch (e) {
      return { allowed: false, reason: `the control plane gave no answer (${reasonOf(e)})` };
    }
  }

  private socketOf(network: string): UdpSocket {
    const { config, log } = this.p;
    const bind = config.networks[network]?.bind as string;
    const socket: UdpSocket = new UdpSocket(
      network,
      bind,
      config.port,
      {
        onUp: () => this.lookAtLost('link-up'),
        onDatagram: (bytes, from) => {
          const now = performance.now();
          const answer = (reply: Buffer): void => socket.send(reply, from.address, from.port, () => undefined);
          const heard = this.datagrams.receive(bytes, network, now, answer);
          if (heard) this.hear(heard, now);
        },
      },
      log,
    );
    return socket;
  }
}
