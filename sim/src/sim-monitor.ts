import {
  POLL_LIMIT_MS,
  type DetectorCondition,
  type PollAnswer,
  type PollRequest,
  type Report,
  type VerdictKind,
} from '#contracts';
import { AgentBook } from '../../apps/detector/src/conditions/agent-book.js';
import { ConditionBook } from '../../apps/detector/src/conditions/condition-book.js';
import type { FleetView } from '../../apps/detector/src/fleet/fleet-view.js';
import { ReportBook } from '../../apps/detector/src/observers/report-book.js';
import { PollBook, type PollOrder } from '../../apps/detector/src/polls/poll-book.js';
import { Monitor } from '../../apps/detector/src/verdicts/monitor.js';
import type { Judgement } from '../../apps/detector/src/verdicts/verdict.js';
import { VerdictLog } from '../../apps/detector/src/verdicts/verdict-log.js';
import type { SimProbes } from './sim-probes.js';
import type { Successor } from './world.js';

export interface PublishedVerdict {
  at: number;
  node: string;
  verdict: VerdictKind;
  reason: string;
  /** Observers that had been drawn to be asked about it, and voted. */
  polled: number;
}

/** What a detector needs of its surroundings. */
export interface Surroundings {
  fleet: FleetView;
  /** A witness stands beside the fleet, and answers whoever asks it. */
  witness: boolean;
  random: () => number;
  wall(t: number): number;
  /** Of a detector that has just been started. */
  probes(now: number): SimProbes;
  said(s: PublishedVerdict): void;
  /** The request to one observer leaves. */
  poll(order: PollOrder, request: PollRequest, now: number): void;
}

/** One process of the detector: the real monitor, and around it what its service does. */
class SimDetector {
  readonly verdicts = new VerdictLog();
  private readonly agents = new AgentBook();
  private readonly conditions: ConditionBook;
  private readonly polls: PollBook;
  private readonly probes: SimProbes;
  private readonly monitor: Monitor;
  private asked: { order: PollOrder; until: number }[] = [];
  private leads = false;
  private witnessed = false;

  constructor(
    private readonly p: Surroundings,
    private now: number,
  ) {
    this.polls = new PollBook(p.random);
    this.probes = p.probes(now);
    const reports = new ReportBook();
    // No host of the simulation is looked at while it lives.
    this.conditions = new ConditionBook(p.fleet, reports, this.verdicts, this.agents, { conditions: () => [] });
    this.monitor = new Monitor(
      {
        fleet: p.fleet,
        reports,
        polls: this.polls,
        verdicts: this.verdicts,
        probes: this.probes,
        witness: () => this.witnessed,
        leads: () => this.leads,
        wall: () => p.wall(this.now),
        publish: (news) => {
          for (const { node, is } of news)
            p.said({
              at: this.now,
              node,
              verdict: is.verdict,
              reason: is.reason,
              polled: this.polls.drawnFor(node).length,
            });
        },
        ask: (orders) => {
          for (const order of orders) this.ask(order);
        },
        log: { debug: () => undefined },
      },
      now,
    );
  }

  lead(term: number, now: number): void {
    this.now = now;
    this.leads = true;
    this.monitor.lead(term, now);
  }

  resign(): void {
    if (!this.leads) return;
    this.leads = false;
    this.monitor.rest();
  }

  hear(report: Report, now: number): void {
    this.now = now;
    if (this.monitor.hear(report, now)) this.agents.hear(report, now);
  }

  /** What its beacon carries beside the verdicts. */
  conditionsNow(now: number): DetectorCondition[] {
    return this.conditions.sample(now, 0);
  }

  /** Time goes on: what of its own datagrams came back, or did not, until now. */
  advance(now: number): void {
    this.now = now;
    this.monitor.learn(this.probes.advance(now));
  }

  /** This turn of the loop ends. */
  settle(now: number): void {
    this.now = now;
    this.giveUp();
    if (this.monitor.hasNews) this.monitor.settle(now);
  }

  tick(now: number): void {
    this.now = now;
    this.monitor.tick(now);
    this.witnessed = this.leads && this.p.witness && this.monitor.needsWitness;
  }

  /** Somebody asks the leader before he acts. */
  current(node: string, now: number): VerdictKind {
    this.now = now;
    return this.monitor.current(node, now).verdict;
  }

  /** An observer's answer, if it still waits for it. */
  answered(order: PollOrder, answer: PollAnswer, now: number): void {
    this.now = now;
    this.giveUp();
    if (!this.asked.some((a) => a.order === order)) return;
    this.asked = this.asked.filter((a) => a.order !== order);
    this.monitor.polled(order, answer, now);
  }

  /** Reports reach it again. */
  listenAnew(now: number): void {
    this.now = now;
    this.monitor.listenAnew('the bus is back', now);
  }

  stoodStill(from: number, until: number): void {
    this.probes.stoodStill(from, until);
  }

  private ask(order: PollOrder): void {
    this.asked.push({ order, until: this.now + POLL_LIMIT_MS });
    this.p.poll(order, this.p.fleet.pollRequest(order.targets), this.now);
  }

  private giveUp(): void {
    if (this.asked.length === 0) return;
    const late = this.asked.filter((a) => a.until <= this.now);
    this.asked = this.asked.filter((a) => a.until > this.now);
    for (const { order } of late) this.monitor.polled(order, undefined, this.now);
  }
}

/** The fleet's detectors, of which one leads at most. All read what comes at the same time. */
export class SimMonitor {
  private leader: SimDetector;
  private standby: SimDetector | undefined;
  private term = 0;

  /** @param hasStandby a second one listens from the beginning */
  constructor(
    private readonly p: Surroundings,
    private readonly hasStandby: boolean,
  ) {
    this.leader = new SimDetector(p, 0);
    if (hasStandby) this.standby = new SimDetector(p, 0);
    this.leader.lead(++this.term, 0);
  }

  judgementOf(node: string): Judgement {
    return this.leader.verdicts.judgementOf(node);
  }

  /** The leader calls somebody other than plainly UP. */
  get isAnyNotUp(): boolean {
    return this.leader.verdicts.notUp().length > 0;
  }

  hear(report: Report, now: number): void {
    this.leader.hear(report, now);
    this.standby?.hear(report, now);
  }

  /** A moment passes without news from outside. */
  advance(now: number): void {
    this.leader.advance(now);
    this.standby?.advance(now);
  }

  settle(now: number): void {
    this.leader.settle(now);
    this.standby?.settle(now);
  }

  tick(now: number): void {
    this.leader.tick(now);
    this.standby?.tick(now);
  }

  current(node: string, now: number): VerdictKind {
    return this.leader.current(node, now);
  }

  /** As the service asks with each beacon. */
  conditions(now: number): DetectorCondition[] {
    return this.leader.conditionsNow(now);
  }

  answered(order: PollOrder, answer: PollAnswer, now: number): void {
    this.leader.answered(order, answer, now);
    this.standby?.answered(order, answer, now);
  }

  listenAnew(now: number): void {
    this.leader.listenAnew(now);
    this.standby?.listenAnew(now);
  }

  stoodStill(from: number, until: number): void {
    this.leader.stoodStill(from, until);
    this.standby?.stoodStill(from, until);
  }

  /** The lease has ended, and nobody has it. */
  resign(): void {
    this.leader.resign();
  }

  succeed(now: number, successor: Successor): void {
    // Where all stood still meanwhile it has not been told.
    this.leader.resign();
    if (successor === 'other' && this.standby) [this.leader, this.standby] = [this.standby, this.leader];
    if (successor === 'new') {
      this.leader = new SimDetector(this.p, now);
      if (this.hasStandby) this.standby = new SimDetector(this.p, now);
    }
    this.leader.lead(++this.term, now);
  }
}
