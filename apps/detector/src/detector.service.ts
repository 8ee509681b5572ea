import { readFileSync } from 'node:fs';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  BEACON_PERIOD_MS,
  fromToken,
  MusterError,
  parseDatagramKeys,
  parseReport,
  Subjects,
  type Beacon,
  type ClusterSettings,
  type CurrentVerdictRequest,
  type NodeRecord,
  type Verdict,
} from '#contracts';
import { Lease, type Closable } from '#bus';
import { ServiceContext } from '#service';
import { AgentBook } from './conditions/agent-book.js';
import { ConditionBook } from './conditions/condition-book.js';
import { FleetView } from './fleet/fleet-view.js';
import { ReportBook } from './observers/report-book.js';
import { PollBook } from './polls/poll-book.js';
import { Poller } from './polls/poller.js';
import { OwnProbes } from './probe/own-probe.js';
import { Witness } from './probe/witness.js';
import { Assessor, type News } from './verdicts/assessor.js';
import { Attention } from './verdicts/attention.js';
import { Examiner, type Vantage } from './verdicts/examiner.js';
import { VerdictPublisher } from './verdicts/publisher.js';
import { reportersNeeded } from './verdicts/quorum.js';
import { VerdictLog } from './verdicts/verdict-log.js';

/** ms between two looks at what changes by time alone. News in a report is acted on at once. */
const TICK = 100;
/** What is beside the verdicts takes time to be seen: until then a new leader says nothing of it, rather than that there is nothing, ms. */
const CONDITIONS_AFTER = 15_000;

/** What exists once the registry has been read. */
interface Bench {
  fleet: FleetView;
  examiner: Examiner;
  assessor: Assessor;
  conditions: ConditionBook;
}

/**
 * Hears every report, and while it holds the lease says what follows from them. The other instance hears the same and
 * keeps still: when it takes over it has the fleet's last words already.
 */
@Injectable()
export class DetectorService implements OnModuleInit, OnApplicationShutdown {
  private readonly book = new ReportBook();
  private readonly agents = new AgentBook();
  private readonly polls = new PollBook(Math.random);
  private readonly poller: Poller;
  private readonly verdicts = new VerdictLog();
  private readonly witness = new Witness();
  private readonly publisher: VerdictPublisher;
  private readonly lease: Lease;
  private readonly closables: Closable[] = [];
  private unsubscribe: (() => void)[] = [];
  private timers: NodeJS.Timeout[] = [];
  private probes: OwnProbes | undefined;
  private bench: Bench | undefined;
  private answering: Closable | undefined;
  private stopped = false;
  private readonly attention = new Attention(performance.now());
  private leadsSince = Infinity;
  /** Of whom something was learnt in this turn of the loop. */
  private readonly learnt = new Set<string>();
  /** Subject → the text of its last report: the same one comes over each network, and is read once. */
  private readonly lastTexts = new Map<string, string>();

  constructor(private readonly context: ServiceContext) {
    const { bus, config, log } = context;
    this.lease = new Lease(bus, { name: 'detector', holder: config.instance });
    this.publisher = new VerdictPublisher(
      this.verdicts,
      (v) => bus.publishVerdict(v),
      () => this.lease.held && bus.connected,
      log,
    );
    this.poller = new Poller(
      this.polls,
      (subject, request, o) => bus.ask(subject, request, o),
      (nodes) => this.learn(nodes),
      log,
    );
  }

  onModuleInit(): void {
    const { bus, config, log } = this.context;
    this.probes = new OwnProbes(
      config.instance,
      { cluster: config.cluster, keys: this.loadKeys() },
      (node) => this.learn([node]),
      (reason) => log.debug({ reason }, 'own probe'),
    );
    this.closables.push(bus.subscribe(Subjects.report('*'), (text, subject) => this.hear(text, subject)));
    this.unsubscribe = [
      bus.onStatus((s) => s === 'connected' && this.listenAnew('the bus is back')),
      this.lease.on((event, token) => (event === 'acquired' ? this.onAcquired(token) : this.onLost(token))),
    ];
    this.timers = [
      setInterval(() => setImmediate(() => this.tick()), TICK),
      setInterval(() => this.sendBeacon(), BEACON_PERIOD_MS),
    ];
    // The buckets are inventory's to create: the service stands, and listens, before they exist.
    void this.begin(this.probes).catch((e: unknown) => log.error({ err: e }, 'cannot follow the registry'));
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    for (const timer of this.timers) clearInterval(timer);
    for (const off of this.unsubscribe) off();
    this.probes?.close();
    await this.answering?.close();
    await this.lease.stop();
    await Promise.all(this.closables.map((c) => c.close()));
  }

  private loadKeys(): Buffer[] {
    const file = this.context.config.keys.datagram;
    if (file === undefined)
      throw new MusterError('CONFIG_INVALID', 'keys.datagram: the detector needs the key file of the datagrams');
    try {
      return parseDatagramKeys(readFileSync(file, 'utf8'));
    } catch (e) {
      throw new MusterError('CONFIG_INVALID', `keys.datagram: ${file}: ${(e as Error).message}`, {}, { cause: e });
    }
  }

  private async begin(probes: OwnProbes): Promise<void> {
    const { bus, config } = this.context;
    const nodes = await bus.bucket<NodeRecord>('nodes').view();
    const settings = await bus.bucket<ClusterSettings>('settings').view();
    this.closables.push(nodes, settings);
    if (this.stopped) return;
    const fleet = new FleetView(nodes, settings, config.cluster);
    const examiner = new Examiner(fleet, this.book, probes, this.polls);
    this.bench = {
      fleet,
      examiner,
      assessor: new Assessor(fleet, examiner, this.verdicts, probes),
      conditions: new ConditionBook(fleet, this.book, this.verdicts, this.agents),
    };
    this.lease.start();
  }

  private hear(text: string, subject: string): void {
    if (this.lastTexts.get(subject) === text) return;
    const now = performance.now();
    const report = parseReport(text);
    // The server lets an agent publish on its own subject only: the subject is the identity.
    if (!report || subject !== Subjects.report(report.node)) {
      this.context.log.warn({ subject }, 'a report that is broken, or of another name than its subject, was ignored');
      // It could name anybody, and any number.
      if (report) this.agents.hearStranger(fromToken(subject.slice(Subjects.report('').length)), now);
      return;
    }
    if (!this.bench) return;
    if (!this.bench.fleet.targets.has(report.node)) {
      this.agents.hearStranger(report.node, now);
      return;
    }
    this.lastTexts.set(subject, text);
    this.look();
    const changed = this.book.hear(report, this.attention.heardAt(now), this.bench.fleet.settings.detection, now);
    if (changed === undefined) return;
    this.agents.hear(report, now);
    this.learn(changed);
  }

  /** Judged together at the end of this turn of the loop: when a rack dies, hundreds of reports come in one. */
  private learn(nodes: readonly string[]): void {
    if (nodes.length === 0) return;
    if (this.learnt.size === 0) setImmediate(() => this.assessLearnt());
    for (const node of nodes) this.learnt.add(node);
  }

  private assessLearnt(): void {
    const nodes = [...this.learnt];
    this.learnt.clear();
    if (!this.stopped) this.assess(nodes);
  }

  private onAcquired(token: number): void {
    this.verdicts.begin(token);
    this.leadsSince = performance.now();
    this.answering = this.context.bus.answer<CurrentVerdictRequest, Verdict>(Subjects.currentVerdict(), (q) =>
      this.current(q),
    );
    this.beQuiet(`it leads, term ${token}`);
  }

  private onLost(token: number): void {
    this.context.log.warn({ token }, 'lease lost: the verdicts are no longer ours to give');
    this.bench?.assessor.rest();
    void this.answering?.close();
    this.answering = undefined;
  }

  private listenAnew(why: string): void {
    this.attention.listenAnew(performance.now());
    this.polls.forget();
    this.beQuiet(why);
  }

  /** Two report periods without a verdict: then everyone has spoken again, and is examined anew. */
  private beQuiet(why: string): void {
    if (!this.bench) return;
    this.attention.beQuiet(performance.now(), this.bench.fleet.settings.detection);
    this.verdicts.sayAgain();
    this.context.log.info({ why }, 'quiet for two report periods');
  }

  private tick(): void {
    this.look();
    if (this.bench) this.forgetStrangers(this.bench.fleet.targets);
    if (!this.bench || !this.lease.held) return;
    const { assessor, fleet } = this.bench;
    assessor.forgetStrangers();
    this.assess(assessor.inTurn());
    const witness = fleet.settings.witness ?? '';
    if (witness === '' || fleet.members.length !== 2 || !assessor.anySuspect) this.witness.forget();
    else void this.witness.ask(witness);
    this.publisher.run();
  }

  /** Before anything is heard or judged. */
  private look(): void {
    if (!this.bench) return;
    const gap = this.attention.look(performance.now(), this.bench.fleet.settings.detection);
    if (gap !== undefined) this.listenAnew(`its own loop stood still for ${Math.round(gap)} ms`);
  }

  private forgetStrangers(targets: ReadonlyMap<string, unknown>): void {
    this.book.keepOnly(targets);
    this.agents.keepOnly(targets);
    if (this.lastTexts.size <= targets.size) return;
    const subjects = new Set([...targets.keys()].map((node) => Subjects.report(node)));
    for (const subject of this.lastTexts.keys()) if (!subjects.has(subject)) this.lastTexts.delete(subject);
  }

  private assess(nodes: readonly string[]): void {
    if (!this.bench || !this.lease.held) return;
    this.look();
    const v = this.vantage();
    this.tell(this.bench.assessor.assess(nodes, v, Date.now(), this.isQuiet(v.now)));
    this.poll(this.bench);
  }

  private poll({ fleet, assessor }: Bench): void {
    const orders = this.polls.due(assessor.suspectsToPoll(), fleet.members, performance.now());
    this.poller.send(orders, (nodes) => fleet.pollRequest(nodes));
  }

  private tell(news: readonly News[]): void {
    for (const { node, was, is } of news)
      if (was.verdict !== is.verdict || is.verdict !== 'UP')
        this.context.log.info({ node, verdict: is.verdict, was: was.verdict, why: is.reason }, 'verdict');
    if (news.length > 0) this.publisher.run();
  }

  private current({ node }: CurrentVerdictRequest): Verdict {
    this.lease.check();
    if (!this.bench) throw new MusterError('NOT_LEADER', 'this detector does not yet follow the registry');
    this.look();
    const v = this.vantage();
    const { verdict, news } = this.bench.assessor.current(node, v, Date.now(), this.isQuiet(v.now));
    this.tell(news);
    return verdict;
  }

  private sendBeacon(): void {
    const now = performance.now();
    if (!this.bench || !this.lease.held || this.isQuiet(now)) return;
    const { fleet, examiner, conditions } = this.bench;
    this.agents.hearForged(this.probes?.forged ?? 0, now);
    const found = conditions.look(now);
    const reporters = examiner.reporters(now).size;
    const beacon: Beacon = {
      epoch: this.verdicts.epoch,
      seq: this.verdicts.seq,
      instance: this.context.config.instance,
      sighted: reporters >= reportersNeeded(fleet.members.length),
      members: fleet.members.length,
      sightedReporters: reporters,
      notUp: Object.fromEntries(
        this.verdicts.notUp().map(({ node, judgement, seq }) => [node, { verdict: judgement.verdict, seq }]),
      ),
      ...(now - this.leadsSince >= CONDITIONS_AFTER && { conditions: found }),
    };
    this.context.bus.publish(Subjects.beacon(), beacon);
  }

  private vantage(): Vantage {
    return { now: performance.now(), listeningSince: this.attention.listeningSince, witness: this.witness.ok };
  }

  private isQuiet(now: number): boolean {
    return this.attention.isQuiet(now) || !this.bench?.fleet.live;
  }
}
