// The delay of the loop is this process's own: no simulation plays it.
// oxlint-disable-next-line no-restricted-imports
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Bus } from '#bus';
import { packageVersion } from '#bus/system/package-version.js';
import { VerdictKinds, type PowerVerb, type ServiceName, type VerdictKind } from '#contracts';

/** Gauges of prom-client that end as only a counter's name may: `promtool check metrics` fails on them. */
export const MISNAMED = ['resources', 'handles', 'requests'].map((of) => `nodejs_active_${of}_total`);

/** A BMC answers within a second or so, and is given up after six. */
const BMC_SECONDS = [0.1, 0.25, 0.5, 1, 2, 3, 4, 6, 10];

/**
 * What one process counts of itself. The fleet's figures are the gateway's: they would be the same from each service.
 * Every label has a bounded set of values; none is a node's name.
 */
export class ServiceMetrics {
  private readonly registry = new Registry();
  private readonly verdicts: Counter | undefined;
  private readonly bmc: Histogram | undefined;
  private readonly detector: Record<'sighted' | 'members' | 'reporters', Gauge> | undefined;
  private readonly connected: Gauge;
  private readonly leases: Gauge;
  private readonly loop: Gauge;
  private delay: IntervalHistogram | undefined;

  constructor(
    private readonly bus: Pick<Bus, 'connected' | 'contended'>,
    service: ServiceName,
  ) {
    const registers = [this.registry];
    const gauge = (name: string, help: string, ...labelNames: string[]): Gauge =>
      new Gauge({ name, help, labelNames, registers });
    gauge('muster_build_info', '1, with the service and its version', 'service', 'version').set(
      { service, version: packageVersion() },
      1,
    );
    this.connected = gauge('muster_bus_connected', '1 while this process is connected to NATS');
    this.leases = gauge('muster_lease_held', '1 while this process holds the lease that it contends for', 'name');
    this.loop = gauge('muster_loop_delay_seconds', 'p99 delay of this process since the last scrape');
    if (service === 'detector') {
      this.verdicts = new Counter({
        name: 'muster_verdicts_total',
        help: 'Verdicts that this process has given since it began',
        labelNames: ['verdict'],
        registers,
      });
      // From zero on: a rate must see the first of each.
      for (const verdict of VerdictKinds) this.verdicts.inc({ verdict }, 0);
      this.detector = {
        sighted: gauge('muster_detector_sighted', '1 while enough nodes report to judge any; of the leader alone'),
        members: gauge('muster_detector_members', 'Nodes that are judged; of the leader alone'),
        reporters: gauge('muster_detector_reporters', 'Members that report freshly and well; of the leader alone'),
      };
    }
    if (service === 'fencer')
      this.bmc = new Histogram({
        name: 'muster_bmc_seconds',
        help: 'Commands to power devices: op status, off, on, soft; result ok or failed',
        labelNames: ['op', 'result'],
        buckets: BMC_SECONDS,
        registers,
      });
  }

  verdict(verdict: VerdictKind): void {
    this.verdicts?.inc({ verdict });
  }

  power(op: PowerVerb, ok: boolean, ms: number): void {
    this.bmc?.observe({ op, result: ok ? 'ok' : 'failed' }, ms / 1000);
  }

  sight(o: { sighted: boolean; members: number; reporters: number }): void {
    this.detector?.sighted.set(o.sighted ? 1 : 0);
    this.detector?.members.set(o.members);
    this.detector?.reporters.set(o.reporters);
  }

  /** Those of the process itself, too: from now on. */
  collect(): void {
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    this.delay = monitorEventLoopDelay({ resolution: 20 });
    this.delay.enable();
  }

  stop(): void {
    this.delay?.disable();
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    this.connected.set(this.bus.connected ? 1 : 0);
    this.leases.reset();
    for (const [name, held] of this.bus.contended) this.leases.set({ name }, held() ? 1 : 0);
    if (this.delay !== undefined) {
      this.loop.set(Number.isFinite(this.delay.percentile(99)) ? this.delay.percentile(99) / 1e9 : 0);
      this.delay.reset();
    }
    return this.registry.metrics();
  }
}
