import {
  DetectionProfiles,
  WatchPlan,
  type DetectionSettings,
  type DetectorCondition,
  type PollRequest,
  type Report,
  type VerdictKind,
} from '#contracts';
import { Dice } from '#contracts/testing/dice.js';
import type { Judgement } from '../../apps/detector/src/verdicts/verdict.js';
import type { History } from './history.js';
import type { PollOrder } from '../../apps/detector/src/polls/poll-book.js';
import { Oracle, type Violation } from './oracle.js';
import { SimAgent, type AgentPort, type Question } from './sim-agent.js';
import { SimMonitor, type PublishedVerdict, type Surroundings } from './sim-monitor.js';
import { SimProbes } from './sim-probes.js';
import { SimRegistry } from './sim-registry.js';
import { Wire } from './wire.js';
import { GIVEN_UP, MONITOR, World, type FaultOf } from './world.js';

/** What is on its way to the monitor, over NATS. */
interface Travelling {
  at: number;
  /** `now` is later than `at` where the monitor stood still. */
  arrive: (now: number) => void;
}

interface Host {
  name: string;
  /** Where in a step of the world its agent has its turn. */
  offset: number;
  agent?: SimAgent;
  /** When the last report over each connection of this process arrives: TCP keeps the order. */
  lastArrival: number[];
  /** ms after the monitor until its agent has new numbers. */
  lag: number;
}

/** ms; an agent that is slower answers the polls of the monitor too late. */
const MOST_STEP = 50;
/** ms a NATS client takes to be connected again. */
const RECONNECT = 300;
/** ms that the agents need at most to have new numbers, where they run. */
const MOST_LAG = 400;
/** ms until TCP sends a segment again, twice as long each time. */
const RETRANSMIT = 200;
/** Share of the steps in which the leader is asked for a verdict as of now, as one who will power off does. */
const QUESTIONS = 0.01;

/** Agents, wire and monitor of one history, in virtual time; with an oracle beside them. */
export class SimulatedFleet {
  readonly verdicts: PublishedVerdict[] = [];
  readonly names: readonly string[];
  readonly world: World;
  readonly oracle: Oracle;
  /** Between two steps of an agent; the monitor looks every second one. */
  readonly step: number;
  private readonly dice: Dice;
  private numbers: DetectionSettings;
  private readonly wire: Wire;
  private readonly index: ReadonlyMap<string, number>;
  private readonly hosts: Host[];
  private readonly registry: SimRegistry;
  private readonly plan: WatchPlan;
  private readonly monitor: SimMonitor;
  private readonly replayed: ReadonlySet<number>;
  private travelling: Travelling[] = [];
  private nonces = 0;
  private steps = 0;
  /** Until when the monitor has run. */
  private monitorAt = 0;
  private t = 0;

  constructor(readonly history: History) {
    const { profile, roles, faults } = history;
    this.numbers = DetectionProfiles[profile];
    this.names = roles.map((_r, i) => `n${i}`);
    this.index = new Map(this.names.map((name, i) => [name, i]));
    this.dice = new Dice(history.seed);
    this.wire = new Wire(history.wire, this.dice);
    this.world = new World(roles.length, faults);
    const intervals = this.world.of('numbers').map((f) => DetectionProfiles[f.profile].interval);
    this.step = Math.min(MOST_STEP, ...[this.n.interval, ...intervals].map((interval) => interval / 10));
    this.hosts = this.names.map((name) => ({
      name,
      offset: this.dice.roll() * this.step,
      lastArrival: [],
      lag: intervals.length > 0 ? this.dice.roll() * MOST_LAG : 0,
    }));
    this.replayed = new Set(this.world.of('replay').map((f) => f.node));
    this.registry = new SimRegistry(history, this.names);
    this.plan = new WatchPlan(this.names.map((name, i) => ({ name, member: roles[i] === 'member' })));
    this.oracle = new Oracle(history, this.world, this.names, (node) => this.plan.observersOf(node));
    const surroundings: Surroundings = {
      fleet: this.registry.view,
      witness: history.witness,
      random: () => this.dice.roll(),
      wall: (t) => this.world.wall(MONITOR, t),
      probes: (now) => new SimProbes(now, (node, network, t) => this.echoToMonitor(node, network, t)),
      said: (said) => this.say(said),
      poll: (order, request, now) => this.poll(order, request, now),
    };
    this.monitor = new SimMonitor(
      surroundings,
      this.world.of('takeover').some((f) => f.successor === 'other'),
    );
    this.oracle.quiet(0, 'new');
  }

  get now(): number {
    return this.t;
  }

  verdictOf(node: string): VerdictKind {
    return this.judgementOf(node).verdict;
  }

  judgementOf(node: string): Judgement {
    return this.monitor.judgementOf(node);
  }

  /** What the leader's next beacon carries beside the verdicts: asked once each {@link BEACON_PERIOD_MS}. */
  conditions(): DetectorCondition[] {
    return this.monitor.conditions(this.t);
  }

  get violations(): readonly Violation[] {
    return this.oracle.violations;
  }

  /** Those that are set now. */
  get n(): DetectionSettings {
    return this.numbers;
  }

  run(until = this.history.until): this {
    for (; this.t < until; this.t += this.step) {
      for (const host of this.hosts) this.stepHost(host, this.t + host.offset);
      this.stepMonitor(this.t, this.t + this.step);
      this.steps++;
    }
    return this;
  }

  private stepHost(host: Host, now: number): void {
    const node = this.index.get(host.name) as number;
    const process = this.world.process(node, now);
    if (host.agent && host.agent.process !== process) {
      const { leaving, until } = host.agent.process;
      if (leaving && this.world.runs(node, until - 1)) host.agent.publish(until, leaving);
      delete host.agent;
    }
    if (!process || !this.world.runs(node, now)) return;
    host.agent ??= this.startAgent(host, node, now);
    host.agent.step(now);
    const n = this.numbersAt(now - host.lag);
    if (host.agent.numbers === n) return;
    host.agent.follow(n, now);
    this.oracle.tuned(node, n, now);
  }

  private numbersAt(t: number): DetectionSettings {
    return DetectionProfiles[this.world.of('numbers').findLast((f) => f.from <= t)?.profile ?? this.history.profile];
  }

  private startAgent(host: Host, node: number, now: number): SimAgent {
    const { networks } = this.history;
    const process = this.world.process(node, now) as SimAgent['process'];
    host.lastArrival = networks.map(() => 0);
    const n = this.numbersAt(now);
    this.oracle.started(node, n, now);
    const peers = new Map(this.plan.peersOf(host.name).map((peer) => [peer, networks]));
    const port: AgentPort = {
      ask: (kind, peer, network, at) => this.ask(kind, node, peer, network, at),
      leaves: (peer, network, at) => this.world.sends(node, this.index.get(peer) as number, network, at),
      read: (arrival) => {
        if (!arrival.forged) this.oracle.read(node, this.index.get(arrival.peer) as number, arrival);
      },
      publish: (report, at) => this.publish(host, node, report, at),
    };
    const self = { name: host.name, networks, peers, n, random: () => this.dice.roll() };
    return new SimAgent(self, process, port, now);
  }

  /** A question leaves; its answer, if there will be one, is put where it will be read. */
  private ask(kind: Question, from: number, peer: string, network: string, now: number): string {
    const nonce = `${++this.nonces}`;
    const to = this.index.get(peer) as number;
    const agent = this.hosts[from]?.agent as SimAgent;
    const put = (at: number | undefined, forged: boolean): void => {
      const read = at === undefined ? undefined : this.world.reads(from, at);
      const n = forged ? `${this.nonces - 1}` : nonce;
      if (read !== undefined) agent.arrives({ at: read, kind, peer, network, nonce: n, sentAt: now, forged });
    };
    if (this.replayed.has(to)) put(now + this.wire.delay(), true);
    const arrived = this.crosses(from, to, network, now);
    const asked = arrived === undefined ? undefined : this.world.reads(to, arrived);
    if (asked === undefined) return nonce;
    const target = this.hosts[to]?.agent;
    const asker = this.names[from] as string;
    if (target?.isLost(asker))
      target.arrives({ at: asked, kind: 'asked', peer: asker, network, nonce, sentAt: now, forged: false });
    put(this.crosses(to, from, network, asked), false);
    if (this.wire.doubled()) put(this.crosses(to, from, network, asked), false);
    return nonce;
  }

  /** When a datagram of this time arrives; undefined: it does not. */
  private crosses(from: number, to: number, network: string, t: number): number | undefined {
    if (this.wire.lost() || !this.world.passes(from, to, network, t)) return undefined;
    const loss = this.world.lossOf(from, t);
    if (loss > 0 && this.dice.chance(loss)) return undefined;
    return t + this.wire.delay();
  }

  private echoToMonitor(name: string, network: string, t: number): number | undefined {
    const node = this.index.get(name) as number;
    const arrived = this.crosses(MONITOR, node, network, t);
    const asked = arrived === undefined ? undefined : this.world.reads(node, arrived);
    const at = asked === undefined ? undefined : this.crosses(node, MONITOR, network, asked);
    if (at !== undefined) this.oracle.echoComes(node, t, at);
    return at;
  }

  /** The same report over every connection. */
  private publish(host: Host, node: number, report: Report, now: number): void {
    const spoken = this.oracle.speaks(node, report, now);
    const stall = this.world.of('stall').find((f) => f.node === node && now >= f.from && now < f.until);
    this.history.networks.forEach((network, i) => {
      if (this.busDown(now) || !this.world.passes(node, MONITOR, network, now)) return;
      const at = (stall?.until ?? now) + this.wire.reportDelay();
      const sent = Math.max(at, host.lastArrival[i] as number);
      const tries = this.retransmits(node, now);
      if (tries === undefined) return;
      const arrivedAt = sent + tries;
      host.lastArrival[i] = arrivedAt;
      this.travelling.push({
        at: arrivedAt,
        arrive: (read) => {
          this.oracle.heard(spoken, arrivedAt, read);
          this.monitor.hear(report, read);
        },
      });
    });
  }

  /** ms until TCP has brought it over where segments are lost; undefined: the connection was given up before. */
  private retransmits(node: number, now: number): number | undefined {
    const loss = this.world.lossOf(node, now);
    let waited = 0;
    if (loss === 0) return waited;
    for (let timeout = RETRANSMIT; this.dice.chance(loss); timeout *= 2) {
      waited += timeout;
      if (waited > GIVEN_UP) return undefined;
    }
    return waited;
  }

  /** The request, and the answer, go over any connection that works. */
  private poll(order: PollOrder, request: PollRequest, now: number): void {
    const node = this.index.get(order.observer) as number;
    const agent = this.hosts[node]?.agent;
    const passes = (t: number): boolean =>
      !this.busDown(t) && this.history.networks.some((network) => this.world.passes(node, MONITOR, network, t));
    const at = passes(now) ? this.world.reads(node, now + this.wire.reportDelay()) : undefined;
    if (!agent || at === undefined) return;
    agent.polled({
      request,
      at,
      answer: (answer, begun, done) => {
        if (!passes(done)) return;
        const down = this.oracle.pollDone(node, begun, done);
        const arrivedAt = done + this.wire.reportDelay();
        const arrive = (read: number): void => {
          for (const target of order.targets)
            this.oracle.pollHeard(node, this.index.get(target) as number, down, arrivedAt, read);
          this.monitor.answered(order, answer, read);
        };
        this.travelling.push({ at: arrivedAt, arrive });
      },
    });
  }

  private busDown(t: number): FaultOf<'bus'> | undefined {
    return this.world.of('bus').find((f) => t >= f.from && t < f.until + RECONNECT);
  }

  private say(said: PublishedVerdict): void {
    this.verdicts.push(said);
    this.oracle.said(said.at, this.index.get(said.node) as number, said.verdict);
  }

  /** What happens at the monitor in (from, until], in the order of time. */
  private stepMonitor(from: number, until: number): void {
    const within = <F extends { from: number; until: number }>(f: F): boolean => f.from <= from && from < f.until;
    const ends = <F extends { from: number; until: number }>(f: F): boolean =>
      f.until > this.monitorAt && f.until <= until;
    if (this.world.of('monitor-pause').some(within)) return;
    this.followRegistry(from, this.world.of('registry').some(within));
    const takeovers = this.world.of('takeover').filter(within);
    const nobodyListens = takeovers.some((f) => f.successor === 'new');
    if (takeovers.length > 0) this.monitor.resign();
    let now = from;
    for (const p of this.world.of('monitor-pause').filter((f) => f.until > from - this.step && f.until <= from))
      this.monitor.stoodStill(p.from, p.until);
    const stood = from - this.monitorAt;
    this.oracle.goesOn(from, stood);
    if (takeovers.length === 0 && this.dice.chance(stood > this.step ? 0.5 : QUESTIONS)) this.question(now);
    const due = this.travelling.filter((r) => r.at <= until).sort((a, b) => a.at - b.at);
    if (due.length > 0) this.travelling = this.travelling.filter((r) => r.at > until);
    for (const { at, arrive } of due) {
      if (at > now) this.monitor.settle(now);
      now = Math.max(now, at);
      this.monitor.advance(now);
      if (!nobodyListens) arrive(now);
    }
    this.monitor.settle(now);
    this.monitor.advance(until);
    this.monitor.settle(until);
    this.onFaultEnds(ends, until);
    this.monitorAt = until;
    // Time alone changes little while everyone is UP; news is acted on at once.
    if (this.steps % (this.monitor.isAnyNotUp ? 2 : 8) !== 1) return;
    this.monitor.tick(until);
    if (!nobodyListens) this.oracle.watch(until);
    // Where nobody leads nothing is said, and readers hold everything for UNKNOWN.
    if (takeovers.length === 0) this.oracle.judge(until, (node) => this.verdictOf(this.names[node] as string));
  }

  private question(now: number): void {
    const node = this.dice.below(this.names.length);
    this.oracle.answered(now, node, this.monitor.current(this.names[node] as string, now));
  }

  private followRegistry(now: number, isLost: boolean): void {
    this.registry.live = !isLost;
    this.oracle.follows(!isLost);
    const n = this.numbersAt(now);
    if (n === this.numbers) return;
    this.numbers = n;
    this.registry.change(n);
    this.oracle.numbersChange(n, now);
  }

  private onFaultEnds(ends: (f: { from: number; until: number }) => boolean, now: number): void {
    for (const bus of this.world.of('bus')) {
      if (!ends({ from: bus.from, until: bus.until + RECONNECT })) continue;
      for (const { agent } of this.hosts) agent?.onBus(now);
      this.monitor.listenAnew(now);
      this.oracle.quiet(now, 'bus');
    }
    for (const { successor } of this.world.of('takeover').filter(ends)) {
      this.monitor.succeed(now, successor);
      this.oracle.quiet(now, successor);
    }
  }
}
