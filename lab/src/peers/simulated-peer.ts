import {
  DetectionProfiles,
  linkClass,
  type DetectionSettings,
  type LinkObservation,
  type Peer,
  type PeerList,
  type Report,
  type RunningWorkload,
} from '#contracts';
import { DUE_SHARE, LinkObservations } from '../../../apps/agent/src/links/link-observation.js';
import { onGrid, ProbeSchedule, type ProbeTarget } from '../../../apps/agent/src/links/probe-schedule.js';
import { ReportTiming } from '../../../apps/agent/src/report/report-timing.js';

/** µs of an echo between two simulated peers, for which nothing is sent. */
export const RTT_US = 300;

/** `undefined`: it is none of ours, datagrams tell. */
export type Fate = (name: string) => 'alive' | 'dead' | undefined;

/** What is seen of another simulated peer, the same on every shared network. */
interface Sight {
  misses: number;
  rttUs: number;
  /** When the next probe, which is never sent, would leave. */
  probeAt: number;
  networks: readonly string[];
}

/**
 * What one simulated node sees and says, counted as an agent counts: real machines by real probes, with the agent's own
 * schedule and counting; other simulated peers without a datagram, each as it is when its probe would be judged.
 * Times are monotonic ms and come in as arguments.
 */
export class SimulatedPeer {
  readonly networks: string[];
  readonly links: LinkObservations;
  epoch = 1;
  alive = true;
  list: PeerList | undefined;
  private n: DetectionSettings = DetectionProfiles.lan;
  private readonly schedule = new ProbeSchedule();
  private timing: ReportTiming | undefined;
  private readonly sights = new Map<string, Sight>();
  /** Those of them that may change: not as they should be. */
  private readonly unsettled = new Set<string>();
  private changes = 0;
  private seq = 0;
  private longestGap = 0;

  /**
   * @param phase 0…1: where in each period and interval it stands among the others
   * @param workloads what runs there until it boots; undefined: it has no lister, and does not tell
   */
  constructor(
    readonly self: Peer,
    private readonly phase: number,
    private bootId: string,
    private readonly fate: Fate,
    private startsAt: number,
    private workloads?: readonly RunningWorkload[],
  ) {
    this.networks = Object.keys(self.networks).sort();
    this.links = new LinkObservations(this.n);
    this.startsAt += phase * this.n.reportPeriod;
  }

  get name(): string {
    return this.self.name;
  }

  /** ms between two steps, from which on it has stood still. */
  get loopGap(): number {
    return this.n.loopGap;
  }

  accept(list: PeerList, now: number): void {
    this.list = list;
    this.n = list.detection;
    const shared = new Map(list.peers.map((p) => [p.name, this.networks.filter((n) => n in p.networks)]));
    const real = new Map([...shared].filter(([name]) => this.fate(name) === undefined));
    this.links.tune(this.n);
    this.links.watch(real);
    this.schedule.set(real, this.n.interval, now, this.phase);
    for (const name of [...this.sights.keys()]) if (!shared.has(name) || real.has(name)) this.forget(name);
    let i = 0;
    for (const [name, networks] of shared) {
      const phase = (this.phase + i++ / shared.size) % 1;
      const known = this.sights.get(name);
      if (known !== undefined) known.networks = networks;
      else if (!real.has(name)) {
        const probeAt = now + phase * this.n.interval;
        this.sights.set(name, { misses: 0, rttUs: -1, probeAt, networks });
        this.unsettled.add(name);
      }
    }
    this.changes++;
  }

  /** Another simulated peer has died or is back: it is looked at from its next probe on. */
  notice(name: string, now: number): void {
    const sight = this.sights.get(name);
    if (sight === undefined) return;
    sight.probeAt = onGrid(sight.probeAt, this.n.interval, now);
    this.unsettled.add(name);
  }

  die(): void {
    this.alive = false;
  }

  /** As after a boot: a new boot id and epoch, nothing runs, and nothing is known of anybody. */
  boot(bootId: string, now: number): void {
    this.alive = true;
    this.bootId = bootId;
    if (this.workloads !== undefined) this.workloads = [];
    this.epoch++;
    this.seq = 0;
    this.startsAt = now;
    this.timing = undefined;
    for (const name of [...this.sights.keys()]) this.forget(name);
    if (this.list === undefined) return;
    for (const { name } of this.list.peers) this.links.reset(name);
    this.accept(this.list, now);
  }

  /** The process stood still: nobody is reported down for what was not sent, and this peer abstains for a while. */
  stoodStill(gap: number, now: number): void {
    this.links.stoodStill(gap, now);
    this.schedule.skipTo(now);
    for (const sight of this.sights.values()) {
      sight.probeAt = onGrid(sight.probeAt, this.n.interval, now);
      if (gap > this.n.interval * this.n.misses && sight.misses > 0) Object.assign(sight, { misses: 0, rttUs: -1 });
    }
  }

  /** Real machines whose turn has come, and the report, where one is due. */
  step(now: number, gap: number): { probes: ProbeTarget[]; report?: Report } {
    if (!this.alive || this.list === undefined) return { probes: [] };
    this.longestGap = Math.max(this.longestGap, gap);
    this.links.judge(now);
    for (const name of this.unsettled) this.probe(name, now);
    const probes = this.schedule.due(now, (t) => this.links.link(t.peer, t.network)?.pending === undefined);
    if (now < this.startsAt) return { probes };
    this.timing ??= new ReportTiming(() => this.n.reportPeriod);
    if (!this.timing.due(now, this.changes + this.links.changes)) return { probes };
    return { probes, report: this.report(now) };
  }

  private probe(name: string, now: number): void {
    const sight = this.sights.get(name);
    if (sight === undefined) return;
    const alive = this.fate(name) === 'alive';
    // An echo is there at once, a miss when the probe is due.
    const wait = alive ? 0 : DUE_SHARE * this.n.interval;
    while (sight.probeAt + wait <= now) {
      sight.probeAt += this.n.interval;
      const before = linkClass(sight.misses, sight.rttUs, this.n);
      if (alive) Object.assign(sight, { misses: 0, rttUs: RTT_US });
      else sight.misses++;
      const after = linkClass(sight.misses, sight.rttUs, this.n);
      if (after === 'silent') sight.rttUs = -1;
      if (after !== before) this.changes++;
      if (after === 'heard' && sight.misses === 0) this.unsettled.delete(name);
    }
  }

  private forget(name: string): void {
    this.sights.delete(name);
    this.unsettled.delete(name);
  }

  private report(now: number): Report {
    const abstain = this.links.abstains(now);
    const loopGapMs = Math.round(this.longestGap);
    this.longestGap = 0;
    return {
      v: 1,
      node: this.name,
      bootId: this.bootId,
      epoch: this.epoch,
      seq: ++this.seq,
      listVersion: this.list?.version ?? 0,
      networks: this.networks,
      peers: (this.list?.peers ?? []).map((p) => [p.name, this.networks.map((n) => this.seen(p.name, n))]),
      health: { abstain, ...(abstain && { reason: 'its loop stood still' }), sendErrors: {}, loopGapMs },
      ...(this.workloads !== undefined && { workloads: [...this.workloads] }),
    };
  }

  private seen(name: string, network: string): LinkObservation {
    const sight = this.sights.get(name);
    if (sight !== undefined) return sight.networks.includes(network) ? [sight.misses, sight.rttUs] : [0, -1];
    const link = this.links.link(name, network);
    return link === undefined ? [0, -1] : [link.misses, link.rttUs];
  }
}
