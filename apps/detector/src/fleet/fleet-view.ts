import {
  defaultSettings,
  detectorFloor,
  MANAGEMENT,
  SETTINGS_KEY,
  SMALL_FLEET,
  WatchPlan,
  type ClusterSettings,
  type NodeRecord,
  type PollRequest,
  type WatchedNode,
} from '#contracts';
import { isMember } from '#domain/node/membership.js';
import { answerLimit, roundPeriod } from '../probe/limits.js';
import type { ProbeTarget } from '../probe/own-probe.js';

/** A node that is judged. */
export interface WatchedTarget {
  record: NodeRecord;
  /** Counts in M, and votes. */
  member: boolean;
  networks: readonly string[];
}

/** What the fleet view reads: a bucket's values at hand. */
export interface Records<T> {
  readonly live: boolean;
  get(key: string): { value: T } | undefined;
  entries(): readonly { key: string; value: T; revision: number }[];
  /** Keys of records that cannot be read. @default none */
  readonly unreadable?: ReadonlyMap<string, unknown>;
  onChange(fn: (key: string, value: T | undefined) => void): () => void;
}

const watched = (record: NodeRecord): WatchedTarget => ({
  record,
  member: isMember(record),
  networks: Object.keys(record.networks),
});

const addresses = (n: NodeRecord): Record<string, string> =>
  Object.fromEntries(Object.entries(n.networks).map(([network, { address }]) => [network, address]));

const sshPort = (vars: Record<string, unknown>): number => {
  const port = Number(vars['ansible_port'] ?? 22);
  return Number.isInteger(port) && port > 0 && port < 65536 ? port : 22;
};

/** Whom we judge, who votes on whom, and by which numbers: follows the registry. */
export class FleetView {
  private built: { targets: Map<string, WatchedTarget>; members: string[]; plan: WatchPlan } | undefined;
  /** The last plan, and what it was made of: a record may change in many ways that do not concern it. */
  private drawn: { of: string; plan: WatchPlan } | undefined;

  constructor(
    private readonly nodes: Records<NodeRecord>,
    private readonly stored: Records<ClusterSettings>,
    private readonly cluster: string,
  ) {
    nodes.onChange((_key, record) => this.follow(record));
  }

  /** The registry has been read whole, and is being followed. */
  get live(): boolean {
    return this.nodes.live && this.stored.live && this.stored.unreadable?.has(SETTINGS_KEY) !== true;
  }

  /** Of the verdicts that stand in the registry; undefined: it is not known whole. */
  get highestEpoch(): number | undefined {
    return this.nodes.live ? detectorFloor(this.nodes.entries().map((e) => e.value)) : undefined;
  }

  get settings(): ClusterSettings {
    return this.stored.get(SETTINGS_KEY)?.value ?? defaultSettings(this.cluster);
  }

  get targets(): ReadonlyMap<string, WatchedTarget> {
    return this.state().targets;
  }

  /** M by name. */
  get members(): readonly string[] {
    return this.state().members;
  }

  observersOf(node: string): readonly string[] {
    return this.state().plan.observersOf(node);
  }

  /** So large that not everybody watches everybody: who is suspect is asked about. */
  get polls(): boolean {
    return this.state().targets.size > SMALL_FLEET;
  }

  pollRequest(nodes: readonly string[]): PollRequest {
    const records = nodes.map((node) => this.targets.get(node)?.record).filter((r) => r !== undefined);
    return { targets: records.map((r) => ({ name: r.name, networks: addresses(r) })), port: this.settings.agentPort };
  }

  sshPortOf(record: Pick<NodeRecord, 'vars'>): number {
    return sshPort(record.vars);
  }

  probeTarget(t: WatchedTarget): ProbeTarget {
    const networks = addresses(t.record);
    const { agentPort, detection } = this.settings;
    const host = networks[MANAGEMENT] ?? Object.values(networks)[0];
    return {
      node: t.record.name,
      networks,
      port: agentPort,
      limit: answerLimit(detection),
      round: roundPeriod(detection),
      ...(host !== undefined && { ssh: { host, port: sshPort(t.record.vars) } }),
    };
  }

  /** Each verdict changes a record, and not who is watched, nor who watches: that is not gathered anew for each. */
  private follow(record: NodeRecord | undefined): void {
    const was = record && this.built?.targets.get(record.name);
    if (was && record.enrolled && isMember(record) === was.member)
      this.built?.targets.set(record.name, watched(record));
    else this.built = undefined;
  }

  private state(): NonNullable<FleetView['built']> {
    if (this.built) return this.built;
    const enrolled = this.nodes
      .entries()
      .map((e) => e.value)
      .filter((n) => n.enrolled);
    const targets = new Map(enrolled.map((record) => [record.name, watched(record)]));
    const all = [...targets.values()].map((t) => ({ name: t.record.name, member: t.member }));
    // Nobody knows whether it is a member: it counts as one that does not report, so that fewer are not a majority.
    const unknown = [...(this.nodes.unreadable?.keys() ?? [])];
    const members = [...all.filter((w) => w.member).map((w) => w.name), ...unknown];
    this.built = { targets, members, plan: this.planOf(all) };
    return this.built;
  }

  private planOf(all: readonly WatchedNode[]): WatchPlan {
    const of = all.map((w) => `${w.name} ${w.member}`).join('\n');
    if (this.drawn?.of !== of) this.drawn = { of, plan: new WatchPlan(all) };
    return this.drawn.plan;
  }
}
