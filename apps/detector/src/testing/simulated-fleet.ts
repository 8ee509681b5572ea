import {
  DetectionProfiles,
  defaultSettings,
  SETTINGS_KEY,
  type ClusterSettings,
  type DetectionSettings,
  type NodeRecord,
  type PeerObservation,
  type VerdictKind,
} from '#contracts';
import { FleetView, type Records } from '../fleet/fleet-view.js';
import { ReportBook } from '../observers/report-book.js';
import { PollBook } from '../polls/poll-book.js';
import { Assessor } from '../verdicts/assessor.js';
import { Examiner } from '../verdicts/examiner.js';
import { VerdictLog } from '../verdicts/verdict-log.js';

const NETWORKS = ['backend', 'management'];
/** Virtual ms between two steps of the world. */
export const STEP = 50;

export interface World {
  /** Runs at all (the host lives). */
  alive(node: string, t: number): boolean;
  /** The agent's process runs (not paused). */
  running(node: string, t: number): boolean;
  /** Datagrams pass between two nodes. */
  linked(a: string, b: string, network: string, t: number): boolean;
  /** Reports of the node, and the monitor's own probes of it, pass. */
  monitored(node: string, t: number): boolean;
  /** A probe or its echo is lost although the link is up. */
  lost(): boolean;
}

interface SimulatedLink {
  misses: number;
  rttUs: number;
  nextAt: number;
  outstanding?: { dueAt: number; answered: boolean };
}

interface SimulatedAgent {
  seq: number;
  reportAt: number;
  abstainUntil: number;
  ranAt: number;
  links: Map<string, SimulatedLink[]>;
}

const records = <T>(values: Record<string, T>): Records<T> => ({
  live: true,
  get: (key) => (key in values ? { value: values[key] as T } : undefined),
  entries: () => Object.entries(values).map(([key, value]) => ({ key, value, revision: 1 })),
  onChange: () => () => undefined,
});

const record = (name: string): NodeRecord =>
  ({
    name,
    networks: Object.fromEntries(NETWORKS.map((n) => [n, { address: '127.0.0.1' }])),
    vars: {},
    enrolled: true,
  }) as unknown as NodeRecord;

/**
 * The detector's real decisions over a fleet that is only arithmetic: agents that count as the real ones do, in virtual
 * time. A million steps take a second, and every history can be repeated.
 */
export class SimulatedFleet {
  readonly verdicts: { at: number; node: string; verdict: VerdictKind }[] = [];
  readonly n: DetectionSettings;
  readonly log = new VerdictLog();
  private readonly book = new ReportBook();
  private readonly agents = new Map<string, SimulatedAgent>();
  private readonly probed = new Map<string, { since: number; echoedAt?: number }>();
  private readonly assessor: Assessor;
  private readonly settings: ClusterSettings;
  private t = 0;
  witness = false;

  constructor(
    readonly names: readonly string[],
    private readonly world: World,
    random: () => number,
    profile: DetectionSettings['profile'] = 'lan',
  ) {
    this.n = DetectionProfiles[profile];
    this.settings = { ...defaultSettings('sim'), detection: this.n };
    const fleet = new FleetView(
      records(Object.fromEntries(names.map((name) => [name, record(name)]))),
      records({ [SETTINGS_KEY]: this.settings }),
      'sim',
    );
    const probes = {
      watch: (targets: readonly { node: string }[]): void => this.watch(targets.map((x) => x.node)),
      state: (node: string, now: number, freshness: number): 'echo' | 'silent' | 'unknown' =>
        this.probeState(node, now, freshness),
      evidence: () => undefined,
    };
    this.assessor = new Assessor(fleet, new Examiner(fleet, this.book, probes, new PollBook(random)), this.log, probes);
    this.log.begin(1);
    for (const name of names)
      this.agents.set(name, {
        seq: 0,
        reportAt: random() * this.n.reportPeriod,
        abstainUntil: 0,
        ranAt: 0,
        links: new Map(
          names
            .filter((p) => p !== name)
            .map((p) => {
              const nextAt = random() * this.n.interval;
              return [p, NETWORKS.map(() => ({ misses: 0, rttUs: -1, nextAt }))];
            }),
        ),
      });
  }

  verdictOf(node: string): VerdictKind {
    return this.log.judgementOf(node).verdict;
  }

  run(until: number, each: (t: number) => void = () => undefined): void {
    for (; this.t <= until; this.t += STEP) {
      for (const [name, agent] of this.agents)
        if (this.world.alive(name, this.t) && this.world.running(name, this.t)) this.stepAgent(name, agent);
      for (const [node, p] of this.probed) if (this.answersMonitor(node)) p.echoedAt = this.t;
      const quiet = this.t < 2 * this.n.reportPeriod;
      const v = { now: this.t, listeningSince: 0, witness: this.witness };
      const news = this.assessor.assess(this.names, v, 0, quiet);
      for (const { node, is } of news) this.verdicts.push({ at: this.t, node, verdict: is.verdict });
      each(this.t);
    }
  }

  /** Whether the monitor has a fresh, willing reporter in this node. */
  reportsNow(node: string): boolean {
    const heard = this.book.of(node);
    return heard !== undefined && this.t - heard.at <= this.n.freshness && !heard.report.health.abstain;
  }

  /** Whether its own reports speak against its death: from `freshness` on they are silent. */
  ownReportIsFresh(node: string): boolean {
    const heard = this.book.of(node);
    return heard !== undefined && this.t - heard.at < this.n.freshness;
  }

  /** Whether this observer would hear the target if it probed now, on any network. */
  reaches(observer: string, target: string): boolean {
    const up = (x: string): boolean => this.world.alive(x, this.t) && this.world.running(x, this.t);
    return up(observer) && up(target) && NETWORKS.some((net) => this.world.linked(observer, target, net, this.t));
  }

  private answersMonitor(node: string): boolean {
    return this.world.alive(node, this.t) && this.world.running(node, this.t) && this.world.monitored(node, this.t);
  }

  private stepAgent(name: string, a: SimulatedAgent): void {
    const gap = this.t - a.ranAt;
    a.ranAt = this.t;
    if (gap > this.n.loopGap && this.t > STEP) this.stoodStill(a, gap);
    let changed = false;
    for (const [peer, links] of a.links)
      links.forEach((link, i) => {
        if (this.stepLink(name, peer, NETWORKS[i] as string, link)) changed = true;
      });
    if (!changed && this.t < a.reportAt) return;
    a.reportAt = this.t + this.n.reportPeriod;
    const peers = [...a.links].map(([p, l]): PeerObservation => [
      p,
      l.map((x): [number, number] => [x.misses, x.rttUs]),
    ]);
    a.seq++;
    if (!this.world.monitored(name, this.t)) return;
    const health = { abstain: this.t < a.abstainUntil, sendErrors: {}, loopGapMs: 0 };
    const report = { v: 1 as const, node: name, bootId: `${name}-boot`, epoch: 1, seq: a.seq, listVersion: 1 };
    this.book.hear({ ...report, networks: NETWORKS, peers, health }, this.t, this.n);
  }

  private stoodStill(a: SimulatedAgent, gap: number): void {
    a.abstainUntil = this.t + 2 * this.n.interval;
    for (const links of a.links.values())
      for (const link of links) {
        delete link.outstanding;
        link.nextAt = this.t + (link.nextAt % this.n.interval);
        if (gap > this.n.interval * this.n.misses) Object.assign(link, { misses: 0, rttUs: -1 });
      }
  }

  private stepLink(from: string, to: string, network: string, link: SimulatedLink): boolean {
    let changed = false;
    const o = link.outstanding;
    if (o?.answered) {
      changed = link.misses >= this.n.suspectMisses || link.rttUs < 0;
      Object.assign(link, { misses: 0, rttUs: 300 });
      delete link.outstanding;
    } else if (o && o.dueAt <= this.t) {
      link.misses++;
      changed = link.misses === this.n.suspectMisses || link.misses === this.n.misses;
      if (link.misses >= this.n.misses) link.rttUs = -1;
      delete link.outstanding;
    }
    if (link.nextAt > this.t) return changed;
    const passes =
      this.world.alive(to, this.t) && this.world.running(to, this.t) && this.world.linked(from, to, network, this.t);
    link.outstanding = { dueAt: this.t + this.n.interval * 0.8, answered: passes && !this.world.lost() };
    link.nextAt += this.n.interval;
    return changed;
  }

  private watch(nodes: readonly string[]): void {
    for (const node of [...this.probed.keys()]) if (!nodes.includes(node)) this.probed.delete(node);
    for (const node of nodes) if (!this.probed.has(node)) this.probed.set(node, { since: this.t });
  }

  private probeState(node: string, now: number, freshness: number): 'echo' | 'silent' | 'unknown' {
    const p = this.probed.get(node);
    if (!p) return 'unknown';
    if (p.echoedAt !== undefined && now - p.echoedAt < freshness) return 'echo';
    return now - p.since >= 1000 ? 'silent' : 'unknown';
  }
}
