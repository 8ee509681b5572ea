import type { DetectionSettings, PollAnswer, PollRequest, Report } from '#contracts';
import { LinkObservations } from '../../apps/agent/src/links/link-observation.js';
import { ProbeSchedule } from '../../apps/agent/src/links/probe-schedule.js';
import { RejoinAttempts } from '../../apps/agent/src/membership/rejoin-attempts.js';
import { Membership, membershipNumbers } from '../../apps/agent/src/membership/membership.js';
import { RejoinDiary } from '../../apps/agent/src/membership/rejoin-diary.js';
import { buildReport, whyAbstain } from '../../apps/agent/src/report/build-report.js';
import { PollRound } from '../../apps/agent/src/poll/poll-round.js';
import { ReportTiming } from '../../apps/agent/src/report/report-timing.js';
import { SendFailures } from '../../apps/agent/src/wire/send-failures.js';
import type { Process } from './world.js';

/** As in the agent: a peer is lost after this many times the misses that make it silent. */
const LOST_FACTOR = 4;

/** `polled`: a probe on the monitor's request. */
export type Question = 'echo' | 'welcome' | 'polled';

/** What has come to an agent and waits to be read. */
export interface Arrival {
  /** When it is read, virtual ms. */
  at: number;
  kind: Question | 'asked';
  peer: string;
  network: string;
  nonce: string;
  sentAt: number;
  /** Not of the peer: somebody has kept an echo to another question, and sends it. */
  forged: boolean;
}

/** The agent's way to the world. */
export interface AgentPort {
  ask(kind: Question, peer: string, network: string, now: number): string;
  /** Whether it left this host. */
  leaves(peer: string, network: string, now: number): boolean;
  /** An echo was read, whatever the agent made of it. */
  read(arrival: Arrival): void;
  publish(report: Report, now: number): void;
}

/** A request of the monitor, and where its answer goes. */
export interface Poll {
  request: PollRequest;
  /** When it is read, virtual ms. */
  at: number;
  answer: (a: PollAnswer, begun: number, now: number) => void;
}

interface RunningPoll extends Poll {
  round: PollRound;
  abstain: boolean;
}

export interface AgentSelf {
  name: string;
  networks: string[];
  /** Peer → networks. */
  peers: ReadonlyMap<string, readonly string[]>;
  n: DetectionSettings;
  random: () => number;
}

/** The agent's own probing in virtual time: its classes do the work, this is the loop around them. */
export class SimAgent {
  private readonly links: LinkObservations;
  private readonly schedule = new ProbeSchedule();
  private readonly membership: Membership;
  private readonly attempts = new RejoinAttempts();
  private readonly timing: ReportTiming;
  private readonly phase: number;
  private n: DetectionSettings;
  private inbox: Arrival[] = [];
  private asked: Poll[] = [];
  private polls: RunningPoll[] = [];
  private lastStep: number;
  private gapSinceReport = 0;
  private seq = 0;
  private otherChanges = 0;
  private abstained = false;
  private readonly failures: ReadonlyMap<string, SendFailures>;
  private mute = '';
  /** At this moment, until a send has come to something: it is asked for many times in each step. */
  private errors: { at: number; counted: Record<string, number> } | undefined;

  constructor(
    private readonly self: AgentSelf,
    readonly process: Process,
    private readonly port: AgentPort,
    now: number,
  ) {
    const { n, networks, peers, random } = self;
    this.failures = new Map(networks.map((network) => [network, new SendFailures()]));
    this.n = n;
    this.phase = random();
    this.links = new LinkObservations(n);
    this.links.watch(peers);
    this.schedule.set(peers, n.interval, now, this.phase);
    this.membership = new Membership(membershipNumbers, random, now, new RejoinDiary({ wallMs: () => this.lastStep }));
    this.membership.setPeers(peers.keys(), now);
    this.timing = new ReportTiming(() => this.n.reportPeriod);
    this.lastStep = now;
  }

  isLost(peer: string): boolean {
    return this.membership.isLost(peer);
  }

  get numbers(): DetectionSettings {
    return this.n;
  }

  /** Another list of peers has come, with other numbers in it. */
  follow(n: DetectionSettings, now: number): void {
    this.n = n;
    this.errors = undefined;
    this.links.tune(n);
    this.membership.readmitUnless((peer) => this.links.silentFor(peer, n.misses));
    this.schedule.set(this.self.peers, n.interval, now, this.phase);
  }

  arrives(arrival: Arrival): void {
    this.inbox.push(arrival);
  }

  /** A request of the monitor has come. */
  polled(poll: Poll): void {
    this.asked.push(poll);
  }

  /** The bus is back. */
  onBus(now: number): void {
    this.otherChanges++;
    this.membership.trigger(now, 'nats');
  }

  step(now: number): void {
    this.readAll(now);
    const { n } = this;
    const { peers } = this.self;
    const gap = now - this.lastStep;
    this.lastStep = now;
    this.gapSinceReport = Math.max(this.gapSinceReport, gap);
    if (gap > n.loopGap) {
      this.links.stoodStill(gap, now);
      for (const poll of this.polls) poll.abstain = true;
      this.schedule.skipTo(now);
      this.membership.readmitUnless((peer) => this.links.silentFor(peer, n.misses));
    }
    this.links.judge(now);
    for (const peer of peers.keys())
      if (!this.membership.isLost(peer) && this.links.silentFor(peer, n.misses * LOST_FACTOR)) {
        this.links.leave(peer);
        this.membership.lose(peer, now);
      }
    for (const { peer, network } of this.schedule.due(now, (t) => !this.links.link(t.peer, t.network)?.pending)) {
      if (this.membership.isLost(peer)) continue;
      const nonce = this.port.ask('echo', peer, network, now);
      this.links.sent(peer, network, nonce, now);
      if (!this.leaves(peer, network, now)) this.links.unsent(nonce, now, 'ENETUNREACH');
    }
    if (this.asked.length + this.polls.length > 0) this.stepPolls(now);
    this.attempts.expire(now);
    for (const { peer } of this.membership.next(now)) this.attemptRejoin(peer, now);
    if (this.links.abstains(now) !== this.abstained) {
      this.abstained = !this.abstained;
      this.otherChanges++;
    }
    const errors = this.sendErrors(now);
    const mute = this.self.networks.filter((network) => (errors[network] as number) > 0).join();
    if (mute !== this.mute) this.otherChanges++;
    this.mute = mute;
    if (this.timing.due(now, this.links.changes + this.otherChanges)) this.publish(now);
  }

  publish(now: number, leaving?: 'stop' | 'reboot'): void {
    const { name, networks, peers } = this.self;
    const { epoch, bootId } = this.process;
    this.port.publish(
      buildReport({
        node: name,
        bootId,
        epoch,
        seq: ++this.seq,
        listVersion: 1,
        networks,
        peers: peers.keys(),
        links: this.links,
        now,
        sendErrors: this.sendErrors(now),
        loopGapMs: this.gapSinceReport,
        warnings: [],
        metrics: undefined,
        workloads: undefined,
        leaving: leaving && { kind: leaving, bootId },
      }),
      now,
    );
    this.gapSinceReport = 0;
  }

  private stepPolls(now: number): void {
    const { name, networks } = this.self;
    for (const poll of this.asked.filter((p) => p.at <= now))
      this.polls.push({
        ...poll,
        round: new PollRound(poll.request, name, networks, now),
        abstain: this.abstains(now),
      });
    this.asked = this.asked.filter((p) => p.at > now);
    for (const { round } of this.polls)
      for (const probe of round.due(now)) {
        const nonce = this.port.ask('polled', probe.target, probe.network, now);
        round.sent(probe, nonce);
        if (!this.leaves(probe.target, probe.network, now)) round.unsent(nonce);
      }
    const done = this.polls.filter(({ round }) => round.done(now));
    this.polls = this.polls.filter((p) => !done.includes(p));
    for (const { round, abstain, answer, at } of done)
      answer(
        {
          node: name,
          epoch: this.process.epoch,
          abstain: abstain || this.abstains(now),
          targets: round.answer(),
        },
        at,
        now,
      );
  }

  private attemptRejoin(peer: string, now: number): void {
    for (const network of this.self.peers.get(peer) ?? []) {
      this.attempts.sent(this.port.ask('welcome', peer, network, now), peer, network, now + membershipNumbers.limit);
      this.leaves(peer, network, now);
    }
  }

  /** What a send has come to, counted. */
  private leaves(peer: string, network: string, now: number): boolean {
    const leaves = this.port.leaves(peer, network, now);
    this.errors = undefined;
    if (leaves) this.failures.get(network)?.left();
    else this.failures.get(network)?.failed(now);
    return leaves;
  }

  private sendErrors(now: number): Record<string, number> {
    if (this.errors?.at !== now) {
      const counted = Object.fromEntries([...this.failures].map(([network, f]) => [network, f.total(this.n, now)]));
      this.errors = { at: now, counted };
    }
    return this.errors.counted;
  }

  private abstains(now: number): boolean {
    const { networks } = this.self;
    return whyAbstain({ links: this.links, networks, sendErrors: this.sendErrors(now), now }) !== undefined;
  }

  /** The real loop reads what waits in its sockets before it looks at its clock. */
  private readAll(now: number): void {
    if (this.inbox.length === 0) return;
    const due = this.inbox.filter((a) => a.at <= now);
    if (due.length === 0) return;
    this.inbox = this.inbox.filter((a) => a.at > now);
    for (const arrival of due.sort((a, b) => a.at - b.at)) this.read(arrival);
  }

  private read(arrival: Arrival): void {
    const { kind, peer, network, nonce, at } = arrival;
    if (kind === 'asked') {
      this.membership.attemptSoon(peer);
    } else if (kind === 'echo') {
      this.links.echo(peer, network, nonce, at);
      this.port.read(arrival);
    } else if (kind === 'polled') {
      for (const { round } of this.polls) round.echo(network, nonce, (target) => target === peer);
      this.port.read(arrival);
    } else if (this.attempts.welcomed(nonce, peer, network, at)) {
      if (this.membership.welcome(peer)) this.links.reset(peer);
      this.port.read(arrival);
    }
  }
}
