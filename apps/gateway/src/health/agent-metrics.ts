import { Counter, Gauge, type Registry } from 'prom-client';
import type { AgentMetrics as Counts, AgentView } from '#contracts';

/** More reasons than agents know of are a fault, and must not become as many time series: they are counted as `other`. */
const MOST_REASONS = 24;
const REASON = /^[a-z][a-z-]{0,31}$/;

/**
 * What the agents say of themselves. Six figures of each node; the counts of all of them together, since a thousand
 * nodes by a dozen reasons would be more than anybody reads. Counts are since this gateway began: what an agent had
 * counted when it was first seen is left out, and one that was started anew counts from zero.
 */
export class AgentMetrics {
  private readonly registers: Registry[];
  private readonly before = new Map<string, { epoch: number; metrics: Counts }>();
  private readonly reasons = new Set<string>();
  private readonly up: Gauge;
  private readonly abstaining: Gauge;
  private readonly members: Gauge;
  private readonly lost: Gauge;
  private readonly rss: Gauge;
  private readonly cpu: Counter;
  private readonly datagrams: Counter;
  private readonly dropped: Counter;
  private readonly standstills: Counter;
  private readonly runs: Counter;
  private readonly losses: Counter;
  private readonly joins: Counter;

  constructor(registry: Registry) {
    this.registers = [registry];
    this.up = this.gauge('muster_agent_up', '1 while reports of the agent are fresh');
    this.abstaining = this.gauge(
      'muster_agent_abstaining',
      '1 while the agent says that its own silence means nothing',
    );
    this.members = this.gauge('muster_agent_members', 'Peers that are members for this agent');
    this.lost = this.gauge(
      'muster_agent_lost_peers',
      'Peers that this agent has lost, and asks to rejoin until they answer',
    );
    this.rss = this.gauge('muster_agent_rss_bytes', 'Resident memory of the agent');
    this.cpu = this.counter('muster_agent_cpu_seconds_total', 'Processor time of the agent since its start', 'node');
    this.datagrams = this.counter(
      'muster_agent_datagrams_total',
      'Datagrams of all agents; unsent: probes that did not leave their host',
      'direction',
    );
    this.dropped = this.counter('muster_agent_datagrams_dropped_total', 'Datagrams that agents ignored', 'reason');
    this.standstills = this.counter('muster_agent_standstills_total', 'Times that the loop of an agent stood still');
    this.runs = this.counter(
      'muster_agent_rejoin_runs_total',
      'Runs of the rejoin loops, by what began them',
      'reason',
    );
    this.losses = this.counter('muster_agent_peers_lost_total', 'Times that an agent lost a peer');
    this.joins = this.counter(
      'muster_agent_join_attempts_total',
      'Rejoin attempts with lost peers: those by which one became a member again, and the others',
      'result',
    );
    for (const direction of ['sent', 'unsent', 'received']) this.datagrams.inc({ direction }, 0);
    for (const result of ['joined', 'unanswered']) this.joins.inc({ result }, 0);
  }

  /** At a scrape: all nodes that have an agent. */
  see(views: readonly AgentView[]): void {
    for (const metric of [this.up, this.abstaining, this.members, this.lost, this.rss, this.cpu]) metric.reset();
    for (const v of views) this.seeOne(v);
    const known = new Set(views.map((v) => v.node));
    // Where none could be asked for, all are still there.
    if (known.size > 0) for (const node of this.before.keys()) if (!known.has(node)) this.before.delete(node);
  }

  private seeOne({ node, fresh, epoch, abstains, members, lost, metrics }: AgentView): void {
    this.up.set({ node }, fresh ? 1 : 0);
    // What is old says nothing of now.
    if (fresh) {
      this.abstaining.set({ node }, abstains === true ? 1 : 0);
      if (members !== undefined) this.members.set({ node }, members);
      if (lost !== undefined) this.lost.set({ node }, lost);
    }
    if (metrics === undefined || epoch === undefined) return;
    if (fresh) this.rss.set({ node }, metrics.rssBytes);
    this.cpu.inc({ node }, metrics.cpuMs / 1000);
    const was = this.before.get(node);
    this.before.set(node, { epoch, metrics });
    if (was !== undefined) this.count(metrics, was.epoch === epoch ? was.metrics : undefined);
  }

  private count(is: Counts, was: Counts | undefined): void {
    const grown = (now: number, then: number | undefined): number => Math.max(0, now - (then ?? 0));
    this.datagrams.inc({ direction: 'sent' }, grown(is.sent, was?.sent));
    this.datagrams.inc({ direction: 'unsent' }, grown(is.unsent ?? 0, was?.unsent));
    this.datagrams.inc({ direction: 'received' }, grown(is.received, was?.received));
    for (const [reason, n] of Object.entries(is.dropped))
      this.dropped.inc({ reason: this.known(reason) }, grown(n, was?.dropped[reason]));
    this.standstills.inc(grown(is.standstills, was?.standstills));
    for (const [reason, n] of Object.entries(is.rejoin.runs))
      this.runs.inc({ reason: this.known(reason) }, grown(n, was?.rejoin.runs[reason]));
    this.losses.inc(grown(is.rejoin.lost, was?.rejoin.lost));
    const joined = grown(is.rejoin.joined, was?.rejoin.joined);
    this.joins.inc({ result: 'joined' }, joined);
    this.joins.inc({ result: 'unanswered' }, Math.max(0, grown(is.rejoin.greeted, was?.rejoin.greeted) - joined));
  }

  private known(reason: string): string {
    if (this.reasons.has(reason)) return reason;
    if (this.reasons.size >= MOST_REASONS || !REASON.test(reason)) return 'other';
    this.reasons.add(reason);
    return reason;
  }

  private gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, labelNames: ['node'], registers: this.registers });
  }

  private counter(name: string, help: string, ...labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: this.registers });
  }
}
