import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import {
  BEACON_PERIOD_MS,
  DATAGRAM_KEYS_KEY,
  MusterError,
  Subjects,
  type ClusterSettings,
  type Clock,
  type CurrentVerdictRequest,
  type DatagramKeySet,
  type NodeRecord,
  type Timer,
  type Verdict,
} from '#contracts';
import { Lease, tokenFloor, type Closable, type KvView } from '#bus';
import type { ServiceContext } from '#service';
import { AgentBook } from './conditions/agent-book.js';
import { ConditionBook } from './conditions/condition-book.js';
import { FleetView } from './fleet/fleet-view.js';
import { LifeObservers } from './life/life-observers.js';
import { askHost, LifeBaseline } from './life/life-baseline.js';
import { livingNode } from './life/living-node.js';
import { ReportBook } from './observers/report-book.js';
import { ReportInbox } from './observers/report-inbox.js';
import { PollBook, type PollOrder } from './polls/poll-book.js';
import { Poller } from './polls/poller.js';
import { FleetKeys } from './probe/fleet-keys.js';
import { OwnProbes } from './probe/own-probe.js';
import type { ProbeNet } from './probe/probe-net.js';
import { readDatagramKeys } from './probe/read-datagram-keys.js';
import { Witness } from './probe/witness.js';
import type { News } from './verdicts/assessor.js';
import { beaconOf } from './verdicts/beacon.js';
import { Monitor } from './verdicts/monitor.js';
import { VerdictPublisher } from './verdicts/publisher.js';
import { VerdictLog } from './verdicts/verdict-log.js';

/** ms between two looks at what changes by time alone. News in a report is acted on at once. */
const TICK = 100;
/** ms after which it is asked again which living hosts are to be probed. */
const PROBE_LIVING_PERIOD = 1_000;

/** What exists once the registry has been read. */
interface Bench {
  fleet: FleetView;
  monitor: Monitor;
  observers: LifeObservers;
  conditions: ConditionBook;
}

/** Connects the monitor to the bus: what it hears, and while this instance holds the lease, what it says. */
export class DetectorService implements OnModuleInit, OnApplicationShutdown {
  private readonly reports = new ReportBook();
  private readonly agents = new AgentBook();
  private readonly polls: PollBook;
  private readonly verdicts = new VerdictLog();
  private readonly witness: Witness;
  private readonly clock: Clock;
  private readonly inbox: ReportInbox;
  private readonly poller: Poller;
  private readonly publisher: VerdictPublisher;
  private readonly lease: Lease;
  private readonly baseline: LifeBaseline;
  private readonly closables: Closable[] = [];
  private unsubscribe: (() => void)[] = [];
  private timers: Timer[] = [];
  private probes: OwnProbes | undefined;
  private keys: FleetKeys | undefined;
  private bench: Bench | undefined;
  private answering: Closable | undefined;
  private leadsSince = Infinity;
  private probeLivingAt = -Infinity;
  private settling = false;
  private stopped = false;

  constructor(
    private readonly context: ServiceContext,
    private readonly net: ProbeNet,
  ) {
    const { bus, config, log } = context;
    this.clock = context.clock;
    this.polls = new PollBook(() => context.random.number());
    this.witness = new Witness(net);
    const floor = (): Promise<number> => tokenFloor(bus, () => this.bench?.fleet.highestEpoch);
    this.lease = new Lease(bus, { name: 'detector', holder: config.instance, floor });
    this.baseline = new LifeBaseline({
      clock: this.clock,
      ask: askHost(net),
      random: () => context.random.number(),
      keep: async (name, seen) => {
        await bus.call('inventory.nodes.lifeSeen', { name, observer: config.instance, seen });
      },
      failed: (node, err) => log.warn({ node, err }, 'how its host shows that it lives could not be put on record'),
    });
    this.inbox = new ReportInbox(this.agents, log);
    this.publisher = new VerdictPublisher(
      this.verdicts,
      (v) => bus.publishVerdict(v),
      () => this.lease.held && bus.connected,
      log,
    );
    this.poller = new Poller(
      (subject, request, o) => bus.ask(subject, request, o),
      (order, said) => this.polled(order, said),
      log,
    );
  }

  onModuleInit(): void {
    const { bus, config, log } = this.context;
    this.keys = new FleetKeys({
      cluster: config.cluster,
      keys: readDatagramKeys(config.keys.datagram),
      ask: (q) => bus.call('inventory.agents.keys', q),
      failed: (err) => log.warn({ err }, 'the keys of the datagrams could not be had; asked for again each second'),
    });
    this.probes = new OwnProbes({
      instance: config.instance,
      keys: this.keys,
      spoke: (node) => this.baseline.spoke(node),
      changed: (node) => this.learn([node]),
      failed: (reason) => log.debug({ reason }, 'own probe'),
      clock: this.clock,
      net: this.net,
    });
    this.closables.push(bus.subscribe(Subjects.report('*'), (text, subject) => this.receive(text, subject)));
    this.unsubscribe = [
      bus.onStatus(
        (s) => s === 'connected' && this.bench?.monitor.listenAnew('the bus is back', this.clock.monotonicMs()),
      ),
      this.lease.on((event, token) => (event === 'acquired' ? this.onAcquired(token) : this.onLost(token))),
    ];
    this.timers = [
      this.clock.every(TICK, () => this.clock.soon(() => this.tick(this.clock.monotonicMs()))),
      this.clock.every(BEACON_PERIOD_MS, () => this.sendBeacon(this.clock.monotonicMs())),
    ];
    // The buckets are inventory's to create: the service stands, and listens, before they exist.
    void this.begin(this.probes).catch((e: unknown) => log.error({ err: e }, 'cannot follow the registry'));
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    for (const timer of this.timers) timer.cancel();
    for (const off of this.unsubscribe) off();
    this.probes?.close();
    this.baseline.stop();
    this.bench?.observers.stop();
    await this.answering?.close();
    await this.lease.stop();
    await Promise.all(this.closables.map((c) => c.close()));
  }

  private async begin(probes: OwnProbes): Promise<void> {
    const { bus, config, log } = this.context;
    const { agents, lease, polls, reports, verdicts, witness } = this;
    const nodes = await bus.bucket<NodeRecord>('nodes').view();
    const settings = await bus.bucket<ClusterSettings>('settings').view();
    this.closables.push(nodes, settings);
    if (this.stopped) return;
    const sets = settings as unknown as KvView<DatagramKeySet>;
    const follow = (): void => this.keys?.follow(sets.get(DATAGRAM_KEYS_KEY)?.value);
    follow();
    this.unsubscribe.push(settings.onChange(follow));
    const fleet = new FleetView(nodes, settings, config.cluster);
    const observers = new LifeObservers({
      clock: this.clock,
      random: this.context.random,
      fleet,
      reports,
      send: (subject, question, o) => bus.ask(subject, question, o),
      keep: async (name, observer, seen) => {
        await bus.call('inventory.nodes.lifeSeen', { name, observer, seen });
      },
      changed: (node) => this.learn([node]),
      log,
    });
    const monitor = new Monitor(
      {
        fleet,
        reports,
        polls,
        verdicts,
        probes: {
          watch: (targets) => (probes.watch(targets), observers.watch(targets)),
          state: (...q) => probes.state(...q),
          evidence: (...q) => probes.evidence(...q),
          lifeObservations: (...q) => observers.observations(...q),
        },
        witness: () => witness.ok,
        leads: () => lease.held,
        wall: () => this.clock.wallMs(),
        publish: (news) => this.publish(news),
        ask: (orders) => this.poller.send(orders, (targets) => fleet.pollRequest(targets)),
        log,
      },
      this.clock.monotonicMs(),
    );
    // What others see of a host is as good as what this process sees.
    const weak = {
      conditions: () => this.baseline.conditions().filter(({ subject }) => !observers.areEnough(subject)),
    };
    const conditions = new ConditionBook(fleet, reports, verdicts, agents, weak);
    this.bench = { fleet, monitor, observers, conditions };
    lease.start();
  }

  private receive(text: string, subject: string): void {
    const now = this.clock.monotonicMs();
    const report = this.inbox.read(text, subject, this.bench?.fleet.targets, now);
    if (!report || !this.bench) return;
    if (this.bench.monitor.hear(report, now)) this.agents.hear(report, now);
    this.settleSoon(this.bench.monitor);
  }

  private learn(nodes: readonly string[]): void {
    if (!this.bench) return;
    this.bench.monitor.learn(nodes);
    this.settleSoon(this.bench.monitor);
  }

  private polled(order: PollOrder, said: unknown): void {
    if (!this.bench) return;
    this.bench.monitor.polled(order, said, this.clock.monotonicMs());
    this.settleSoon(this.bench.monitor);
  }

  /** At the end of this turn of the loop, once. */
  private settleSoon(monitor: Monitor): void {
    if (!monitor.hasNews || this.settling) return;
    this.settling = true;
    this.clock.soon(() => {
      this.settling = false;
      if (!this.stopped) monitor.settle(this.clock.monotonicMs());
    });
  }

  private tick(now: number): void {
    if (!this.bench) return;
    const { fleet, monitor, observers } = this.bench;
    void this.keys?.step(now);
    monitor.tick(now);
    if (now >= this.probeLivingAt) this.probeLiving(fleet, now);
    observers.step(this.lease.held);
    this.agents.keepOnly(fleet.targets);
    this.inbox.keepOnly(fleet.targets);
    if (!this.lease.held) return;
    const witness = fleet.settings.witness ?? '';
    if (witness === '' || !monitor.needsWitness) this.witness.forget();
    else void this.witness.ask(witness);
    this.publisher.run();
  }

  /** One that does not lead probes them, too: it may be the one that judges next. */
  private probeLiving(fleet: FleetView, now: number): void {
    this.probeLivingAt = now + PROBE_LIVING_PERIOD;
    const { instance } = this.context.config;
    this.baseline.step(
      new Map(
        [...fleet.targets].map(([name, t]) => [name, livingNode(fleet, t, this.reports.of(name), instance, now)]),
      ),
    );
  }

  private onAcquired(token: number): void {
    const now = this.clock.monotonicMs();
    this.leadsSince = now;
    this.answering = this.context.bus.answer<CurrentVerdictRequest, Verdict>(Subjects.currentVerdict(), (q) =>
      this.current(q),
    );
    this.bench?.monitor.lead(token, now);
  }

  private onLost(token: number): void {
    this.context.log.warn({ token }, 'lease lost: the verdicts are no longer ours to give');
    this.bench?.monitor.rest();
    void this.answering?.close();
    this.answering = undefined;
  }

  private publish(news: readonly News[]): void {
    for (const { node, was, is } of news)
      if (was.verdict !== is.verdict || is.verdict !== 'UP')
        this.context.log.info({ node, verdict: is.verdict, was: was.verdict, why: is.reason }, 'verdict');
    for (const { is } of news) this.context.metrics.verdict(is.verdict);
    if (news.length > 0) this.publisher.run();
  }

  /** A process that was stopped may read the question before it learns that its lease has ended. */
  private current({ node }: CurrentVerdictRequest): Verdict {
    this.lease.check();
    if (!this.bench) throw new MusterError('NOT_LEADER', 'this detector does not yet follow the registry');
    return this.bench.monitor.current(node, this.clock.monotonicMs());
  }

  private sendBeacon(now: number): void {
    const { bench, context, lease, verdicts } = this;
    if (!bench || !lease.held) return;
    // Verdicts that stand in the registry with a higher epoch would have all of ours refused.
    const found = bench.fleet.highestEpoch ?? 0;
    if ((found > lease.token && lease.raise(found)) || bench.monitor.isQuiet(now)) return;
    this.agents.hearForged(this.probes?.forged ?? 0, now);
    const beacon = beaconOf({
      instance: context.config.instance,
      verdicts,
      members: bench.fleet.members.length,
      reporters: bench.monitor.reporters(now),
      noQuorumBy: bench.monitor.noQuorumBy,
      blindnessEnded: bench.monitor.blindnessEnded(now),
      conditions: bench.conditions.sample(now, this.keys?.outdatedFor(now) ?? 0),
      ledFor: now - this.leadsSince,
      keys: this.keys?.ids ?? [],
    });
    context.metrics.sight({ ...beacon, reporters: beacon.sightedReporters });
    context.bus.publish(Subjects.beacon(), beacon);
  }
}
