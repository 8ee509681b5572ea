import {
  alarmKey,
  isOpenIncident,
  isPaused,
  waitsForMoves,
  type AlarmCode,
  type AlarmRecord,
  type ClusterSettings,
  type GateCode,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type Permits,
  type Reservations,
  type WorkloadRecord,
} from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';
import { isAlarmTrue, isBoundTo, type AlarmWorld } from './alarm-truth.js';
import { isPowerOwed } from '../hands/hands-oracle.js';
import { nodeOf } from '../hands/hands-programs.js';
import type { FleetRule } from './fleet-rules.js';
import { isGateTrue, isInStorm, type GateWorld } from './gate-truth.js';
import { heldForNothing } from './hold-truth.js';
import type { Obstacle, PlanWorld } from './plan-truth.js';
import type { PlayedHost } from './played-host.js';
import { isProofOfAnybody } from './proof-truth.js';

/** What is true, as far as what is left over is judged by it. */
export interface AftermathWorld {
  chassis: ReadonlyMap<string, { on: boolean }>;
  hosts: ReadonlyMap<string, PlayedHost>;
  /** The monitor's last word of a machine is that it is well. */
  isCalledUp: (node: string) => boolean;
  /** The monitor sees too few to judge anybody: in words. */
  noQuorum: () => string | undefined;
  /** Why the monitor does not call a machine dead that does not speak; undefined: it does. */
  notCalledDead: (node: string) => string | undefined;
  /** Hosts of the servers of the bus. */
  brokers: readonly string[];
  /** The machine whose power the device switches that was built into this one. */
  machineOf: (node: string) => string;
  /** Wall clock of the host of a process, ms. */
  wallOf: (process: string) => number | undefined;
}

/** The records as they were written last, and what was seen of them. Times in virtual ms. */
export interface SeenRecords {
  now: () => number;
  /** Who holds the lease of the conductor by its record. */
  conductor: () => string;
  /** The same of the fencing leader. */
  fencer: () => string;
  incidents: ReadonlyMap<string, IncidentRecord>;
  /** The open incident of a node. */
  incidentOf: (node: string) => IncidentRecord | undefined;
  openIncidents: () => IncidentRecord[];
  /** Those that have not ended. */
  openJobs: () => JobRecord[];
  jobs: ReadonlyMap<string, JobRecord>;
  nodes: ReadonlyMap<string, NodeRecord>;
  workloads: ReadonlyMap<string, WorkloadRecord>;
  alarms: ReadonlyMap<string, AlarmRecord>;
  permits: () => Permits | undefined;
  reservations: () => Reservations | undefined;
  settings: () => ClusterSettings | undefined;
  /** Workload → machines that it runs on. */
  runsOn: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
  silentSinceMs: ReadonlyMap<string, number>;
  /** Incident → since when its permit is on record. */
  permittedMs: ReadonlyMap<string, number>;
  /** Storm → when it was tripped, or a member was last seen to be back for the first time. */
  calmSinceMs: ReadonlyMap<string, number>;
  /** Incidents whose node has spoken in the boot that was to have ended. */
  spokeSinceProof: ReadonlySet<string>;
  /** Buckets that somebody has made anew. */
  anew: ReadonlySet<string>;
}

/**
 * Alarms that say why a workload does not run. That it has ended, or has no start gate, is no reason for it to stay down,
 * and who says that it runs elsewhere is wrong where it runs nowhere.
 */
const whyNotRunning: readonly AlarmCode[] = ['no-room', 'workload-held'];

/**
 * What is left once all faults are over: what can run and does not, waits that nothing explains, and alarms, gates and
 * holds that are not so.
 */
export class Aftermath {
  constructor(
    private readonly f: AftermathWorld,
    private readonly s: SeenRecords,
  ) {}

  get isSettled(): boolean {
    return this.faults(() => undefined).length === 0;
  }

  obstacles(): Obstacle[] {
    const found: Obstacle[] = [];
    this.faults((o) => found.push(o));
    return found;
  }

  /** @param names told of each obstacle that stands */
  faults(names: (obstacle: Obstacle) => void): [FleetRule, string][] {
    const found: [FleetRule, string][] = [];
    for (const job of this.s.openJobs()) {
      const obstacle = this.cannotLeave(job);
      if (obstacle !== undefined) names(obstacle);
      else found.push(['job-lost', `${job.id}, ${job.kind} of ${job.nodes.join(' ')}, is ${job.status}`]);
    }
    const jobOf = (id: string): JobRecord | undefined => this.s.jobs.get(id);
    // A claim ends by the wall clock of the conductor, which somebody may have set back.
    for (const what of heldForNothing(this.s.reservations(), jobOf, this.f.wallOf(this.s.conductor())))
      found.push(['held-for-ever', what]);
    const noQuorum = this.noQuorumForNothing();
    if (noQuorum !== undefined) found.push(['blind-for-ever', noQuorum]);
    for (const a of this.s.alarms.values())
      if (a.cleared === undefined && !isAlarmTrue(a.code, a.subject, this.alarmWorld))
        found.push(['alarm-untrue', `${a.code} of ${a.subject}: ${a.message}`]);
    for (const i of this.s.incidents.values()) {
      const stuck = this.stuckIncident(i, names);
      if (stuck === undefined) continue;
      if (i.phase !== 'suppressed') found.push(['incident-stuck', stuck]);
      else found.push(['gate-untrue', `${i.node} is held by ${i.gate ?? 'no gate'}, which is not so: ${detailOf(i)}`]);
    }
    for (const i of this.s.incidents.values()) {
      // What stands against an incident that has not come so far stands against the order behind it.
      const isBefore = isOpenIncident(i) && i.phase !== 'recovered';
      const obstacle = this.obstacleOfPower;
      if (isBefore || !isPowerOwed(i)) continue;
      if (obstacle !== undefined) names({ name: obstacle, subject: i.node, node: i.node });
      else found.push(['on-stuck', `${i.node} is ${i.phase}: ${JSON.stringify(i.order ?? i.powerOn)}`]);
    }
    for (const n of this.s.nodes.values()) {
      if (n.pendingReturn !== undefined && n.pendingReturn.held === undefined && this.mayReturn(n))
        found.push(['return-stuck', `${n.name} has come back: ${JSON.stringify(n.pendingReturn)}`]);
      // Its cordon stands against its return whatever else does, unless an operator is asked already.
      if (n.pendingReturn !== undefined && n.cordon !== undefined)
        names({ name: 'a cordon', subject: n.name, node: n.name });
      const isDrained = n.cordon?.drain !== true || n.cordon.drained !== undefined;
      if (!isDrained && this.raised('drain-stuck', n.name) === undefined)
        found.push(['drain-lost', `${n.name} is drained, and does not count as empty`]);
    }
    for (const w of this.s.workloads.values()) {
      if (w.desired !== 'running' || (this.s.runsOn.get(w.name)?.size ?? 0) > 0) continue;
      const obstacle = this.obstacleOf(w);
      if (obstacle !== undefined) names({ name: obstacle, subject: w.name, node: w.assignment?.node });
      else found.push(['not-running', `${w.name} runs nowhere: ${JSON.stringify(w.assignment ?? 'unassigned')}`]);
    }
    return found;
  }

  private readonly alarmWorld: AlarmWorld = {
    speaks: (node) => this.f.hosts.get(node)?.speaks === true,
    isHung: (node) => this.f.hosts.get(node)?.isHung === true,
    isDrifted: (node) => this.f.hosts.get(node)?.drifted === true,
    runsOn: (workload) => [...(this.s.runsOn.get(workload)?.keys() ?? [])],
    isAtWork: (node) => [...this.s.runsOn.values()].some((on) => on.has(node)),
    incident: (node) => this.s.incidents.get(node),
    openIncidents: () => this.s.openIncidents(),
    node: (node) => this.s.nodes.get(node),
    workload: (workload) => this.s.workloads.get(workload),
    serves: (node) => this.serves(node),
    nodes: () => [...this.s.nodes.values()],
    spokeSinceProof: (node) => this.s.spokeSinceProof.has(this.s.incidents.get(node)?.id ?? ''),
    isBeingEmptied: (node) =>
      this.s.nodes.get(node)?.cordon?.drain === true ||
      this.s.openJobs().some((job) => job.nodes.includes(node) && (job.moving ?? []).length > 0),
    workloadsOf: (node) => [...this.s.workloads.values()].filter((w) => w.assignment?.node === node),
    lacksQuorum: () => this.f.noQuorum() !== undefined,
    storms: () => this.s.permits()?.trips ?? [],
    isMiswired: (node) => this.isMiswired(node),
    startsUngated: (node) => this.f.hosts.get(node)?.startsUngated === true,
    isAnew: () => this.s.anew.size > 0,
  };

  private readonly gateWorld: GateWorld = {
    nowMs: () => this.s.now(),
    speaks: (node) => this.f.hosts.get(node)?.speaks === true,
    isHung: (node) => this.f.hosts.get(node)?.isHung === true,
    isCalledUp: (node) => this.f.isCalledUp(node),
    isCalledDead: (node) => this.f.notCalledDead(node) === undefined,
    lacksQuorum: () => this.f.noQuorum() !== undefined,
    silentSinceMs: (node) => this.s.silentSinceMs.get(node),
    node: (node) => this.s.nodes.get(node),
    nodes: () => [...this.s.nodes.values()],
    isMiswired: (node) => this.isMiswired(node),
    jobOf: (node) => this.s.jobs.get(this.s.reservations()?.held[node]?.job ?? ''),
    openIncidents: () => this.s.openIncidents(),
    settings: () => this.s.settings(),
    wallMs: () => this.f.wallOf(this.s.conductor()),
    permits: () =>
      (this.s.permits()?.granted ?? []).map((g) => ({
        ...g,
        sinceMs: this.s.permittedMs.get(g.incident) ?? this.s.now(),
      })),
    storms: () =>
      (this.s.permits()?.trips ?? []).map((trip) => ({
        trip,
        calmSinceMs: this.s.calmSinceMs.get(trip.id) ?? this.s.now(),
      })),
    takesTheBus: (node) => this.takesTheBus(node),
  };

  /** A device in its record reaches another machine: one that a replacement inherits, the machine of before. */
  private isMiswired(node: string): boolean {
    const devices = this.s.nodes.get(node)?.powerLevels.flat() ?? [];
    return devices.some((device) => this.f.machineOf(nodeOf(device)) !== node);
  }

  private serves(node: string): boolean {
    const n = this.s.nodes.get(node);
    const isIn = n?.status === 'Allocated' && n.state === 'Discovered' && n.enrolled;
    const isFree = n?.cordon === undefined && n?.pendingReturn === undefined && n?.confirmedOff === undefined;
    const isHeld = this.s.reservations()?.held[node] !== undefined || this.s.incidentOf(node) !== undefined;
    return isIn && isFree && !isHeld && this.f.hosts.get(node)?.speaks === true && this.f.isCalledUp(node);
  }

  readonly planWorld: PlanWorld = {
    speaks: (node) => this.f.hosts.get(node)?.speaks === true,
    incident: (node) => this.s.incidents.get(node),
    node: (node) => this.s.nodes.get(node),
    isJob: (id) => this.s.jobs.has(id),
    alarm: (code, subject) => this.raised(code, subject),
  };

  /** What is to leave its nodes, and what has left them and does not run yet: the next one waits for that. */
  private leavingFor(job: JobRecord): WorkloadRecord[] {
    const isLeft = (w: WorkloadRecord): boolean =>
      w.move?.cause === `job:${job.id}` && (this.s.runsOn.get(w.name)?.size ?? 0) === 0;
    return [...this.s.workloads.values()].filter((w) => job.moving?.includes(w.name) === true || isLeft(w));
  }

  /** What stands against a workload that has to leave before the job begins. */
  private cannotLeave(job: JobRecord): Obstacle | undefined {
    for (const w of this.leavingFor(job)) {
      const node = w.assignment?.node;
      const obstacle = this.obstacleOf(w);
      if (obstacle !== undefined) return { name: obstacle, subject: w.name, node };
      if (node === undefined || this.raised('drain-stuck', node) === undefined) continue;
      if (isBoundTo(node, this.alarmWorld)) return { name: 'alarm drain-stuck', subject: job.id, node };
    }
    // Nothing begins on a node while something may be done to its power.
    for (const node of waitsForMoves(job) ? job.nodes : []) {
      const gate = this.gateOf(this.s.incidentOf(node));
      if (gate !== undefined) return { name: `gate ${gate}`, subject: job.id, node };
    }
    return undefined;
  }

  /** Nothing stands against its check. */
  private mayReturn(n: NodeRecord): boolean {
    const isHeard = this.f.hosts.get(n.name)?.speaks === true && this.f.isCalledUp(n.name);
    const isFree = n.cordon === undefined && this.s.reservations()?.held[n.name] === undefined;
    return n.enrolled && n.status === 'Allocated' && isHeard && isFree && this.s.incidentOf(n.name) === undefined;
  }

  private stuckIncident(i: IncidentRecord, names: (obstacle: Obstacle) => void): string | undefined {
    if (!isOpenIncident(i) || i.phase === 'recovered') return undefined;
    const { node } = i;
    const name = this.obstacleOfIncident(i);
    if (name !== undefined) {
      names({ name, subject: node, node });
      return undefined;
    }
    if (i.phase === 'recovering') {
      // What stands against each of its workloads is asked of them.
      const waits = i.recovery.filter((r) => r.state !== 'running').map((r) => this.s.workloads.get(r.workload));
      if (waits.some((w) => w !== undefined && this.obstacleOf(w) !== undefined)) return undefined;
    }
    return `the incident of ${node} is ${i.phase}: ${detailOf(i)}`;
  }

  /** What stands against an incident that is neither over nor recovered. */
  private obstacleOfIncident(i: IncidentRecord): string | undefined {
    const { node, phase } = i;
    if (phase === 'suppressed') {
      const gate = this.gateOf(i);
      return gate && `gate ${gate}`;
    }
    if (i.collateral !== undefined) return 'collateral';
    const record = this.s.nodes.get(node);
    if (phase === 'fencing' || phase === 'failed') {
      const obstacle =
        record?.cordon === undefined ? (this.f.noQuorum() ?? this.notDead(node) ?? this.observes) : 'a cordon';
      if (obstacle !== undefined) return obstacle;
    }
    const gate = this.gateOfRetry(i);
    if (gate !== undefined) return `gate ${gate}`;
    // It has spoken once since its proof, which is not enough to void it: an alarm asks a person to end it.
    if (isAfterOff(i) && this.s.spokeSinceProof.has(i.id) && this.raised('conflict-power', node) !== undefined)
      return 'a contradiction';
    if (phase !== 'fenced' || this.f.noQuorum() === undefined) return undefined;
    // Nobody sees who fell silent with the off: it may have hit another node.
    if (i.drill !== undefined && i.drill.result === undefined) return 'a drill that nobody sees';
    return isProofOfAnybody(i, record) ? this.f.noQuorum() : undefined;
  }

  /** The gate that holds an incident, where it is so. */
  private gateOf(i: IncidentRecord | undefined): GateCode | undefined {
    if (i?.phase !== 'suppressed' || i.gate === undefined) return undefined;
    return isGateTrue(i.gate, i, this.gateWorld) ? i.gate : undefined;
  }

  /** What is proven off counts among them from when it is on again: what it is by its record then, it is not any more. */
  private noQuorumForNothing(): string | undefined {
    const why = this.f.noQuorum();
    if (why === undefined) return undefined;
    const on = [...this.s.nodes.values()].filter(
      (n) =>
        n.enrolled &&
        n.cordon === undefined &&
        (n.confirmedOff === undefined || this.f.chassis.get(n.name)?.on === true),
    );
    const speaking = on.filter((n) => this.f.hosts.get(n.name)?.speaks === true).length;
    return speaking * 2 > on.length ? `${why}, although ${speaking} of ${on.length} that are on speak` : undefined;
  }

  /** Why nobody acts on a machine that does not speak: the monitor does not call it dead. */
  private notDead(node: string): string | undefined {
    return this.f.hosts.get(node)?.speaks === true ? undefined : this.f.notCalledDead(node);
  }

  /** What stands against an order to the power of a node: a pause is over by the wall clock of who fences. */
  private get obstacleOfPower(): string | undefined {
    const wallMs = this.f.wallOf(this.s.fencer());
    if (wallMs !== undefined && isPaused(this.s.settings()?.fencing.paused, wallMs)) return 'a pause';
    return this.observes;
  }

  /** An operator has ordered that nothing is written to a power device. */
  private get observes(): string | undefined {
    return this.s.settings()?.fencing.mode === 'enforce' ? undefined : 'the mode observe';
  }

  /**
   * What stands before the next try of a fencing that has failed, in the order in which gates are asked: what is known of
   * its power devices; a storm that its node is of; the majority of the bus; or a person's pause, which is over by the wall
   * clock of the conductor, and somebody may have set that back.
   */
  private gateOfRetry(i: IncidentRecord | undefined): GateCode | undefined {
    if (i?.phase !== 'failed') return undefined;
    if (isGateTrue('NOT_FENCEABLE', i, this.gateWorld)) return 'NOT_FENCEABLE';
    const inStorm = (['BRAKE', 'DOMAIN'] as const).find((gate) => isInStorm(gate, i, this.gateWorld));
    if (inStorm !== undefined) return inStorm;
    if (this.takesTheBus(i.node)) return 'QUORUM';
    const wallMs = this.f.wallOf(this.s.conductor());
    return wallMs !== undefined && isPaused(this.s.settings()?.fencing.paused, wallMs) ? 'PAUSED' : undefined;
  }

  /** Without this machine, and those that are silent, no majority of its servers is left. */
  private takesTheBus(node: string): boolean {
    const { brokers, hosts } = this.f;
    const isGone = (name: string): boolean => name === node || hosts.get(name)?.speaks === false;
    return brokers.includes(node) && brokers.filter((name) => !isGone(name)).length * 2 <= brokers.length;
  }

  private raised(code: AlarmCode, subject: string): AlarmRecord | undefined {
    const alarm = this.s.alarms.get(alarmKey(code, subject));
    return alarm?.cleared === undefined ? alarm : undefined;
  }

  /** What is named by a record, and stands against it. */
  private obstacleOf(w: WorkloadRecord): string | undefined {
    // Alarms then stay as they are, and may say what stood against it before.
    const noQuorum = this.f.noQuorum();
    if (noQuorum !== undefined) return noQuorum;
    const node = w.assignment?.node;
    const code = whyNotRunning.find((c) => this.raised(c, w.name) !== undefined);
    if (code !== undefined) return `alarm ${code}`;
    if (node === undefined) return undefined;
    const notDead = this.notDead(node);
    if (notDead !== undefined) return notDead;
    const i = this.s.incidentOf(node);
    const held = this.gateOf(i);
    if (held !== undefined) return `gate ${held}`;
    if (i?.collateral !== undefined) return 'collateral';
    const gate = this.gateOfRetry(i);
    if (gate !== undefined) return `gate ${gate}`;
    const record = this.s.nodes.get(node);
    if (record?.cordon !== undefined) return 'a cordon';
    if (record?.pendingReturn?.held !== undefined) return 'a held return';
    if (this.observes !== undefined) return this.observes;
    const last = this.s.incidents.get(node);
    if (last?.phase === 'cancelled' && last.takenBack !== undefined) return 'an order that was cancelled';
    return undefined;
  }
}

const detailOf = (i: IncidentRecord): string => i.steps.at(-1)?.detail ?? '';
