import { performance } from 'node:perf_hooks';
import { MusterError, type VerdictEvidence } from '#contracts';
import { Fleet } from '../../../lab/src/fleet/fleet.js';
import { withFleet } from '../../../lab/src/fleet/with-fleet.js';
import { cpuMsOf } from '../proc.js';
import type { Death, Failover } from './deaths.js';
import { Ledger } from './ledger.js';
import { powerTrace } from './traces.js';

const WORKLOAD = 'work';
/** What may be lost: host1 is the only master, and has no work. */
const GROUP = 'service-worker';
/** More fencings than a bench has deaths: its storm is wanted. */
const STORM_CAP = '500';
const DOWN_LIMIT_MS = 30_000;
/** More than the two minutes that a storm holds: a round in which the detector lost its quorum ends, and is void. */
const RUNNING_LIMIT_MS = 200_000;
const BACK_LIMIT_MS = 180_000;

interface LabProcess {
  name: string;
  pid: number;
}

/** A fleet of the lab as it is in production: real agents, BMCs, Ansible over ssh, two of each service. */
export class MusterFleet implements Failover {
  private mark = 0;

  private constructor(
    private readonly fleet: Fleet,
    readonly ledger: Ledger,
    private readonly inventory: readonly number[],
  ) {}

  /** For as long as the work takes, with one workload that runs. */
  static with(nodes: number, say: (line: string) => void, work: (fleet: MusterFleet) => Promise<void>): Promise<void> {
    // Each in a failure domain of its own: three that fall silent in one within a minute are taken for its switch.
    const up = ['--storm-cap', STORM_CAP, '--domains', String(nodes)];
    const options = { mode: 'netns' as const, up, onProgress: say };
    return withFleet(
      { ...options, name: 'failover', nodes, say, keep: () => false, failed: () => false },
      async (lab) => {
        const { dir } = lab.options;
        // It switches a node on once a day, and a bench kills each more often: whoever runs the bench does it instead.
        await lab.api.request('PATCH', '/v1/settings', { fencing: { afterRecovery: 'stay-off' } });
        await lab.lab('workload', 'add', WORKLOAD, '--on', `host${nodes}`);
        const { recovery } = await lab.workload(WORKLOAD);
        await lab.api.put(`/v1/workloads/${WORKLOAD}`, { desired: 'running', hostGroup: GROUP, recovery });
        const { processes } = await lab.lab<{ processes: LabProcess[] }>('info');
        const inventory = processes.filter(({ name }) => name.startsWith('inventory.')).map(({ pid }) => pid);
        const fleet = new MusterFleet(lab, new Ledger(`${dir}/ledger`, WORKLOAD), inventory);
        await fleet.settled();
        await work(fleet);
      },
    );
  }

  carrier(): string {
    return this.ledger.carrier();
  }

  async fail(victim: string): Promise<Death> {
    const node = this.fleet.nodeOf(victim);
    const elsewhere = this.ledger.awaitElsewhere(victim);
    this.mark = this.fleet.events.mark();
    const before = { cpuMs: this.cpuMs(), at: performance.now() };
    const { ns } = await this.fleet.lab<{ ns: number }>('kill', victim);
    const [down, beat] = await Promise.all([
      this.fleet.events.verdict(node, 'DOWN', DOWN_LIMIT_MS, this.mark),
      elsewhere(ns, RUNNING_LIMIT_MS),
    ]);
    const cpu = (this.cpuMs() - before.cpuMs) / (performance.now() - before.at);
    const power = powerTrace(await this.fleet.bmc(victim), ns);
    if (power.offSentMs === undefined || power.offConfirmedMs === undefined)
      throw new MusterError(
        'COMMAND_FAILED',
        `the work of ${victim} runs on ${beat.host}, and its BMC knows of no proven off`,
      );
    const { observers } = down.data['evidence'] as VerdictEvidence;
    const abstained = observers.filter((o) => o.abstains === true).map((o) => `${o.observer} abstained`);
    // One dead host of five leaves a majority, unless agents stand still beside it.
    const starved = this.lostSight(node) ? [...abstained, 'the detector had no quorum'] : abstained;
    return {
      victim,
      to: beat.host,
      downMs: (Number(down.arrivedNs) - ns) / 1e6,
      offSentMs: power.offSentMs,
      offConfirmedMs: power.offConfirmedMs,
      runningMs: (beat.ns - ns) / 1e6,
      cpu,
      ...(starved.length > 0 && { starved: starved.join(', ') }),
    };
  }

  async whole(victim: string): Promise<void> {
    const node = this.fleet.nodeOf(victim);
    await this.fleet.events.incident(node, 'recovered', BACK_LIMIT_MS, this.mark);
    await this.fleet.lab('boot', victim);
    await this.fleet.events.inService(node, BACK_LIMIT_MS, this.mark);
    await this.settled();
  }

  /** Everybody serves, and no start of the work is owed any more. */
  private async settled(): Promise<void> {
    await this.fleet.until(
      'every node to be in service and the work to be started',
      async () => {
        const [nodes, { start }] = await Promise.all([this.fleet.nodes(), this.fleet.workload(WORKLOAD)]);
        return start === undefined && nodes.every((n) => n.inService) ? true : undefined;
      },
      BACK_LIMIT_MS,
    );
  }

  /** Since the last death: for a moment nobody could say what the node is. */
  private lostSight(node: string): boolean {
    return this.fleet.events.verdicts(this.mark, node).some((e) => e.data['verdict'] === 'UNKNOWN');
  }

  private cpuMs(): number {
    return this.inventory.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  }
}
