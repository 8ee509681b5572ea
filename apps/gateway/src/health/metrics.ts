import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Closable } from '#bus';
import { type AgentView, MusterError, type MusterEvent, type StatusView, Subjects, type Verdict } from '#contracts';
import { MISNAMED, ServiceContext } from '#service';
import { RpcClient } from '../rpc/rpc-client.js';
import { AgentMetrics } from './agent-metrics.js';
import { NodeMetrics } from './node-metrics.js';
import { EventMetrics } from './event-metrics.js';

/**
 * The fleet in figures: what is so, asked anew at every scrape, as a gateway holds no state that could be old; and what
 * was published while this gateway ran.
 */
@Injectable()
export class Metrics implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly registry = new Registry();
  private readonly delay = monitorEventLoopDelay({ resolution: 20 });
  private readonly up = this.gauge('muster_up', '1 when the figures of the fleet could be read at this scrape');
  private readonly nodes = this.gauge('muster_nodes', 'Nodes that are registered');
  private readonly inService = this.gauge('muster_nodes_in_service', 'Nodes in service');
  private readonly incidents = this.gauge('muster_incidents_open', 'Incidents that are not ended');
  private readonly jobs = this.gauge('muster_jobs', 'Jobs that are kept', 'status');
  private readonly alarms = this.gauge('muster_alarm_active', 'Alarms that stand', 'code');
  private readonly leaseHeld = this.gauge('muster_lease_held', '1 when somebody holds the lease', 'name');
  private readonly leaseAge = this.gauge('muster_lease_age_seconds', 'Since its last renewal was seen', 'name');
  private readonly loop = this.gauge('muster_loop_delay_seconds', 'p99 delay of this process since the last scrape');
  private readonly named = new NodeMetrics(this.registry);
  private readonly events = new EventMetrics(this.registry);
  private readonly agents = new AgentMetrics(this.registry);
  private readers: Closable[] = [];

  constructor(
    private readonly rpc: RpcClient,
    private readonly context: ServiceContext,
  ) {
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    this.delay.enable();
  }

  onApplicationBootstrap(): void {
    const { bus } = this.context;
    this.readers = [
      bus.follow([Subjects.verdict('*')], { newOnly: true }, (_s, v) => this.events.verdict(v as Verdict)),
      bus.follow([Subjects.event('incident', '*')], { newOnly: true }, (_s, e) =>
        this.events.incident(e as MusterEvent<'incident'>),
      ),
    ];
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.readers.map((reader) => reader.close()));
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  async text(): Promise<string> {
    const asked = [this.nodes, this.inService, this.incidents, this.jobs, this.alarms, this.leaseHeld, this.leaseAge];
    for (const gauge of asked) gauge.reset();
    this.named.reset();
    try {
      this.fill(await this.rpc.read('inventory.status', {}));
      this.up.set(1);
    } catch (error) {
      // A scrape answers with what it has: that nothing could be read is itself the figure.
      this.context.log.warn({ code: MusterError.from(error).code }, 'metrics without the figures of the fleet');
      this.up.set(0);
    }
    try {
      this.agents.see(await this.agentViews());
    } catch (error) {
      this.context.log.warn({ code: MusterError.from(error).code }, 'metrics without the figures of the agents');
      this.agents.see([]);
    }
    this.loop.set(this.delay.percentile(99) / 1e9);
    this.delay.reset();
    return this.registry.metrics();
  }

  private async agentViews(): Promise<AgentView[]> {
    const views: AgentView[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.rpc.read('inventory.agents.metrics', cursor === undefined ? {} : { cursor });
      views.push(...page.items);
      cursor = page.next;
    } while (cursor !== undefined);
    return views;
  }

  private fill(status: StatusView): void {
    this.named.see(status);
    this.nodes.set(status.nodes.total);
    this.inService.set(status.nodes.inService);
    this.incidents.set(status.incidents.length);
    for (const [name, count] of Object.entries(status.jobs)) this.jobs.set({ status: name }, count);
    for (const alarm of status.alarms) if (alarm.cleared === undefined) this.alarms.inc({ code: alarm.code });
    for (const lease of status.leases) {
      this.leaseHeld.set({ name: lease.name }, lease.holder === undefined || lease.holder === '' ? 0 : 1);
      this.leaseAge.set({ name: lease.name }, lease.ageMs / 1000);
    }
  }

  private gauge(name: string, help: string, ...labelNames: string[]): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }
}
