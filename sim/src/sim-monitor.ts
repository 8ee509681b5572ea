import {
  DetectionProfiles,
  POLL_LIMIT_MS,
  defaultSettings,
  SETTINGS_KEY,
  type ClusterSettings,
  type DetectionSettings,
  type NodeRecord,
  type PollAnswer,
  type PollRequest,
  type Report,
  type VerdictKind,
} from '#contracts';
import { FleetView, type Records } from '../../apps/detector/src/fleet/fleet-view.js';
import { ReportBook } from '../../apps/detector/src/observers/report-book.js';
import { PollBook, type PollOrder } from '../../apps/detector/src/polls/poll-book.js';
import { Assessor } from '../../apps/detector/src/verdicts/assessor.js';
import { Attention } from '../../apps/detector/src/verdicts/attention.js';
import { Examiner } from '../../apps/detector/src/verdicts/examiner.js';
import { isBlind } from '../../apps/detector/src/verdicts/quorum.js';
import { VerdictLog } from '../../apps/detector/src/verdicts/verdict-log.js';
import type { History } from './history.js';
import type { SimProbes } from './sim-probes.js';

const records = <T>(values: Record<string, T>): Records<T> => ({
  live: true,
  get: (key) => (key in values ? { value: values[key] as T } : undefined),
  entries: () => Object.entries(values).map(([key, value]) => ({ key, value, revision: 1 })),
  onChange: () => () => undefined,
});

export interface Said {
  at: number;
  node: string;
  verdict: VerdictKind;
  reason: string;
  /** Observers that had been drawn to be asked about it, and voted. */
  polled: number;
}

/** What the monitor needs of its surroundings. */
export interface MonitorPort {
  wall(t: number): number;
  said(s: Said): void;
  /** The request to one observer leaves. */
  poll(order: PollOrder, request: PollRequest, now: number): void;
}

/** The registry as this history has it. */
export function fleetOf(h: History, names: readonly string[]): FleetView {
  const networks = Object.fromEntries(h.networks.map((n) => [n, { address: '127.0.0.1' }]));
  const record = (name: string, i: number): NodeRecord =>
    ({
      name,
      networks,
      vars: {},
      enrolled: true,
      ...(h.roles[i] === 'cordoned' && { cordon: { reason: 'sim', by: 'sim', at: 0 } }),
      ...(h.roles[i] === 'off' && { confirmedOff: { at: 0, incident: name } }),
    }) as unknown as NodeRecord;
  const settings: ClusterSettings = {
    ...defaultSettings('sim'),
    detection: DetectionProfiles[h.profile],
    leaveGrace: h.leaveGrace,
  };
  return new FleetView(
    records(Object.fromEntries(names.map((name, i) => [name, record(name, i)]))),
    records({ [SETTINGS_KEY]: settings }),
    'sim',
  );
}

/** The detector's real decisions; around them its service's loop: who leads, when it is quiet, what it hears. */
export class SimMonitor {
  readonly log = new VerdictLog();
  private book = new ReportBook();
  private polls: PollBook;
  private openPolls: { order: PollOrder; until: number }[] = [];
  private examiner: Examiner;
  private assessor: Assessor;
  private leads = true;
  private attention = new Attention(0);
  private readonly news = new Set<string>();
  private term = 1;

  constructor(
    private readonly fleet: FleetView,
    private readonly probes: SimProbes,
    private readonly witness: boolean,
    private readonly random: () => number,
    private readonly port: MonitorPort,
  ) {
    this.polls = new PollBook(random);
    this.examiner = this.anExaminer();
    this.assessor = this.anAssessor();
    this.log.begin(this.term);
    this.beQuiet(0);
  }

  hear(report: Report, now: number): void {
    if (this.leads) this.look(now);
    this.learn(this.book.hear(report, this.attention.heardAt(now), this.n, now) ?? []);
  }

  /** Something was learnt of these: judged together at the end of this turn of the loop. */
  learn(nodes: readonly string[]): void {
    for (const node of nodes) this.news.add(node);
  }

  /** This turn of the loop ends. */
  settle(now: number): void {
    if (this.news.size === 0) return;
    const nodes = [...this.news];
    this.news.clear();
    this.assess(nodes, now);
  }

  tick(now: number): void {
    this.look(now);
    this.assess(this.assessor.inTurn(), now);
  }

  /** An observer's answer, if it still waits for it. */
  answered(order: PollOrder, answer: PollAnswer, now: number): void {
    const open = this.openPolls.findIndex((p) => p.order === order);
    if (open < 0) return;
    this.openPolls.splice(open, 1);
    this.polls.ended(order, answer, now);
    this.learn(order.targets);
  }

  /** Reports reach it again. */
  listenAnew(now: number): void {
    this.attention.listenAnew(now);
    this.polls.forget();
    this.openPolls = [];
    this.beQuiet(now);
  }

  resign(): void {
    this.leads = false;
    this.assessor.rest();
  }

  /** Another instance leads: one that has heard the reports all the time, or has just been started. */
  succeed(now: number, warm: boolean): void {
    this.leads = true;
    if (!warm) {
      this.book = new ReportBook();
      this.attention = new Attention(now);
    }
    this.attention.look(now, this.n);
    this.polls = new PollBook(this.random);
    this.openPolls = [];
    this.examiner = this.anExaminer();
    this.assessor = this.anAssessor();
    this.log.begin(++this.term);
    this.beQuiet(now);
  }

  private get n(): DetectionSettings {
    return this.fleet.settings.detection;
  }

  private pollSuspects(now: number): void {
    for (const { order } of this.openPolls.filter((p) => p.until <= now)) this.polls.ended(order, undefined, now);
    this.openPolls = this.openPolls.filter((p) => p.until > now);
    for (const order of this.polls.due(this.assessor.suspectsToPoll(), this.fleet.members, now)) {
      this.openPolls.push({ order, until: now + POLL_LIMIT_MS });
      this.port.poll(order, this.fleet.pollRequest(order.targets), now);
    }
  }

  private look(now: number): void {
    if (this.attention.look(now, this.n) !== undefined) this.listenAnew(now);
  }

  private beQuiet(now: number): void {
    this.attention.beQuiet(now, this.n);
    this.log.sayAgain();
  }

  private assess(nodes: readonly string[], now: number): void {
    if (!this.leads) return;
    this.look(now);
    const reporters = this.examiner.reporters(now);
    this.attention.sees(isBlind(reporters.size, this.fleet.members.length), now);
    const v = { now, listeningSince: this.attention.listeningSince, reporters, witness: this.witness };
    for (const { node, is } of this.assessor.assess(nodes, v, this.port.wall(now), this.attention.isQuiet(now)))
      this.port.said({
        at: now,
        node,
        verdict: is.verdict,
        reason: is.reason,
        polled: this.polls.drawnFor(node).length,
      });
    this.pollSuspects(now);
  }

  private anExaminer(): Examiner {
    return new Examiner(this.fleet, this.book, this.probes, this.polls);
  }

  private anAssessor(): Assessor {
    return new Assessor(this.fleet, this.examiner, this.log, this.probes);
  }
}
