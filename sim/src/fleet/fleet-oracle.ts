import {
  isOpenIncident,
  PERMITS_KEY,
  RESERVATIONS_KEY,
  SETTINGS_KEY,
  type AlarmRecord,
  type ClusterSettings,
  type GateCode,
  type IncidentPhase,
  type IncidentRecord,
  type NodeRecord,
  type Permits,
  type PlanItem,
  type Reservations,
  type StormTrip,
  type VerdictKind,
  type WorkloadRecord,
} from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';
import { HandsOracle, type HandsOracleParts } from '../hands/hands-oracle.js';
import type { ReadOutcome, SentCommand } from '../hands/played-power.js';
import type { HostWitness, PlayedHost, RunEnd } from './played-host.js';
import { Aftermath, type AftermathWorld } from './aftermath.js';
import { FleetProbes } from './fleet-probes.js';
import type { Findings, FleetOnly } from './fleet-rules.js';
import { isNamed, saidOf, type Obstacle } from './plan-truth.js';
import { PowerOracle } from './power-oracle.js';
import { StormOracle } from './storm-oracle.js';
import { WorkOracle } from './work-oracle.js';

export interface FleetOracleParts extends HandsOracleParts, AftermathWorld {
  chassis: HandsOracleParts['chassis'];
  /** So many may be unhealthy at once. */
  brake: number;
  /** The incident of a node is in this phase. */
  phase: (phase: IncidentPhase, node: string, gate: GateCode | undefined) => void;
}

/**
 * Judges the whole plane, beside all that the oracle of the hands judges: has an oracle for each subject, tells each what
 * concerns it, and knows the records as they were written last. Times in virtual ms.
 */
export class FleetOracle extends HandsOracle<FleetOnly> implements HostWitness {
  readonly counts: FleetProbes;
  private readonly work: WorkOracle;
  private readonly power: PowerOracle;
  private readonly storms: StormOracle;
  private readonly aftermath: Aftermath;
  private readonly records = {
    nodes: new Map<string, NodeRecord>(),
    workloads: new Map<string, WorkloadRecord>(),
    alarms: new Map<string, AlarmRecord>(),
  };
  private permits: Permits | undefined;
  private reservations: Reservations | undefined;
  private settings: ClusterSettings | undefined;
  /** Incidents whose node has spoken in the boot that was to have ended. */
  private readonly spokeSinceProof = new Set<string>();
  /** Buckets that somebody has made anew. */
  private readonly anew = new Set<string>();
  /** Incident → since when its permit is on record. */
  private readonly permittedMs = new Map<string, number>();
  /** Storm → when it was tripped, or a member was last seen to be back for the first time. */
  private readonly calmSinceMs = new Map<string, number>();
  private readonly silentSinceMs = new Map<string, number>();

  constructor(private readonly f: FleetOracleParts) {
    super(f);
    const { now, incidents, jobs, silentSinceMs, permittedMs, calmSinceMs, spokeSinceProof, anew } = this;
    const probe = (name: string): void => this.probe(name);
    const holderOf = (lease: string): string => this.holderOf(lease);
    const findings: Findings = { now, probe, violate: (rule, what) => this.violate(rule, what) };
    this.counts = new FleetProbes({ now, probe, incidents, holderOf });
    this.work = new WorkOracle(findings, { ...f, isSilent: (node) => silentSinceMs.has(node) });
    this.power = new PowerOracle(findings, f);
    this.storms = new StormOracle(findings, { ...f, nodes: this.records.nodes, trips: () => this.trips });
    const { runsOn } = this.work;
    this.aftermath = new Aftermath(f, {
      ...{ now, incidents, jobs, runsOn, silentSinceMs, permittedMs, calmSinceMs, spokeSinceProof, anew },
      ...this.records,
      incidentOf: (node) => this.incidentOf(node),
      openIncidents: () => this.openIncidents,
      openJobs: () => this.openJobs(),
      conductor: () => holderOf('conductor'),
      fencer: () => holderOf('fencer'),
      permits: () => this.permits,
      reservations: () => this.reservations,
      settings: () => this.settings,
    });
  }

  // HostWitness

  started(node: string, workload: string, byItself = false): void {
    this.work.started(node, workload, byItself);
  }

  ended(node: string, workload: string, how: RunEnd): void {
    this.work.ended(node, workload, how);
  }

  cleared(node: string, how: 'off' | 'reset'): void {
    this.work.cleared(node, how);
  }

  speaks(node: string, is: boolean): void {
    this.lives(node, is);
    if (is) this.silentSinceMs.delete(node);
    else if (!this.silentSinceMs.has(node)) this.silentSinceMs.set(node, this.now());
    this.work.speaks(node, is);
    if (is) this.storms.heard(node);
    this.storms.end();
    this.counts.speaks(node, is);
    const i = this.incidents.get(node);
    if (is && i !== undefined) this.noteSpeaker(i);
  }

  private noteSpeaker(i: IncidentRecord): void {
    const host = this.f.hosts.get(i.node);
    if (isAfterOff(i) && host?.speaks === true && host.bootId === i.bootId) this.spokeSinceProof.add(i.id);
  }

  refusedStale(): void {
    this.counts.refusedStale();
  }

  // What the world and operators tell

  /** They are cut off together, and will come back by themselves. */
  stormBegins(nodes: readonly string[]): void {
    this.storms.begins(nodes);
  }

  called(node: string, verdict: VerdictKind): void {
    this.storms.called(node, verdict);
  }

  /** A cleanup begins there. */
  cleaning(host: PlayedHost): void {
    this.work.cleaning(host);
  }

  /** An order was acknowledged after which the incident that was open then gives no command. */
  acknowledged(incident: string, order: string): void {
    this.power.acknowledged(incident, order);
  }

  protected override isWanted(node: string, i: IncidentRecord, livesSinceMs: number): boolean {
    return this.power.isWanted(node, i, livesSinceMs);
  }

  override commandSent(node: string, c: SentCommand): void {
    super.commandSent(node, c);
    const i = this.incidents.get(node);
    this.counts.commandSent(node, c);
    this.power.commandSent(node, c, i);
    if (c.verb === 'off' && i !== undefined) this.storms.judgeOff(node, i, c);
  }

  override readEnded(node: string, fencer: string, outcome: ReadOutcome): void {
    super.readEnded(node, fencer, outcome);
    this.counts.readEnded(node, fencer, outcome);
  }

  // What is on record

  override madeAnew(bucket: string): void {
    super.madeAnew(bucket);
    this.anew.add(bucket);
  }

  override stored(bucket: string, key: string, text: string, revision: number): void {
    const before = bucket === 'incidents' ? this.incidents.get(key) : undefined;
    super.stored(bucket, key, text, revision);
    if (bucket === 'jobs') this.counts.jobWritten(this.jobs.get(key));
    if (bucket === 'leases' && key === 'conductor') this.work.conducts();
    if (bucket === 'incidents' && text !== '') this.incidentWritten(key, before);
    else if (bucket === 'nodes') this.nodeWritten(key, text);
    else if (bucket === 'workloads') this.workloadWritten(key, text, revision);
    else if (bucket === 'alarms') keep(this.records.alarms, key, text);
    else if (bucket === 'admission' && key === PERMITS_KEY) this.permitsWritten(read<Permits>(text));
    else if (bucket === 'admission' && key === RESERVATIONS_KEY) this.reservationsWritten(read<Reservations>(text));
    else if (bucket === 'settings' && key === SETTINGS_KEY) this.settings = read<ClusterSettings>(text);
  }

  private nodeWritten(name: string, text: string): void {
    const { nodes } = this.records;
    const was = nodes.get(name);
    keep(nodes, name, text);
    this.storms.end();
    this.counts.nodeWritten(was, nodes.get(name));
  }

  private workloadWritten(name: string, text: string, revision: number): void {
    const { workloads } = this.records;
    const was = workloads.get(name);
    keep(workloads, name, text);
    const w = workloads.get(name);
    if (w !== undefined) this.work.workloadWritten(was, w, revision);
  }

  private reservationsWritten(now: Reservations | undefined): void {
    this.counts.reservationsWritten(this.reservations, now);
    this.reservations = now;
  }

  private permitsWritten(permits: Permits | undefined): void {
    this.counts.permitsWritten(this.permits, permits);
    for (const t of permits?.trips ?? []) {
      const before = this.permits?.trips?.find((x) => x.id === t.id);
      if (before === undefined || returnsOf(t) > returnsOf(before)) this.calmSinceMs.set(t.id, this.now());
    }
    for (const { incident } of permits?.granted ?? [])
      if (!this.permittedMs.has(incident)) this.permittedMs.set(incident, this.now());
    this.permits = permits;
  }

  private incidentWritten(node: string, before: IncidentRecord | undefined): void {
    const i = this.incidents.get(node);
    if (i === undefined) return;
    this.storms.incidentWritten(i, before);
    this.work.incidentWritten(node, i, before);
    this.power.incidentWritten(node, i, before);
    this.counts.incidentWritten(i, before);
    this.noteSpeaker(i);
    if (before?.id === i.id && before.phase === i.phase && before.gate === i.gate) return;
    this.f.phase(i.phase, node, i.phase === 'suppressed' ? i.gate : undefined);
  }

  /** The open incident of a node. */
  incidentOf(node: string): IncidentRecord | undefined {
    const i = this.incidents.get(node);
    return i !== undefined && isOpenIncident(i) ? i : undefined;
  }

  get openIncidents(): IncidentRecord[] {
    return [...this.incidents.values()].filter(isOpenIncident);
  }

  /** Those that have not ended. */
  get acceptedJobs(): string[] {
    return this.openJobs().map((job) => job.id);
  }

  get stormIds(): string[] {
    return this.trips.map((t) => t.id);
  }

  /** Storms that stand. */
  private get trips(): readonly StormTrip[] {
    return this.permits?.trips ?? [];
  }

  // The end

  override get isSettled(): boolean {
    return this.aftermath.isSettled;
  }

  /**
   * The plan names all that stands against something. It does not for a moment where it is ahead of a record or an alarm:
   * what begins, was ordered just now, or is too young to be told.
   */
  isAllNamed(items: readonly PlanItem[]): boolean {
    return this.aftermath.obstacles().every((o) => isNamed(o, items, this.aftermath.planWorld) !== false);
  }

  /** What stands against something is in the plan, by its true reason. */
  judgePlan(items: readonly PlanItem[]): void {
    for (const o of this.aftermath.obstacles()) {
      const isSaid = isNamed(o, items, this.aftermath.planWorld);
      if (isSaid === undefined) continue;
      this.probe(`named by the plan: ${o.name}`);
      if (!isSaid)
        this.violate(
          'plan-silent',
          `${o.subject} is stopped by ${o.name}, and the plan says: ${saidOf(o, items) || 'nothing'}`,
        );
    }
  }

  /** By when each power-on that the system owes is dealt with: a fencing that was tried again wants it late. */
  get powerOnsDueMs(): number {
    return this.power.onsDueMs(this.incidents.values());
  }

  override judgeEnd(): void {
    const names = ({ name }: Obstacle): void => this.probe(`at the end: ${name}`);
    for (const a of this.records.alarms.values())
      if (a.cleared === undefined) this.probe(`alarm at the end: ${a.code}`);
    const isDue = this.powerOnsDueMs <= this.now();
    for (const [rule, what] of this.aftermath.faults(names)) if (rule !== 'on-stuck' || isDue) this.violate(rule, what);
  }

  /** Once {@link powerOnsDueMs} has passed, where that was not so at the end. */
  judgePowerOns(): void {
    for (const [rule, what] of this.aftermath.faults(() => undefined))
      if (rule === 'on-stuck') this.violate(rule, what);
  }
}

const returnsOf = (t: StormTrip): number => Object.values(t.members).filter((m) => m.returned === true).length;

const read = <T>(text: string): T | undefined => (text === '' ? undefined : (JSON.parse(text) as T));

function keep<T>(records: Map<string, T>, key: string, text: string): void {
  const record = read<T>(text);
  if (record === undefined) records.delete(key);
  else records.set(key, record);
}
