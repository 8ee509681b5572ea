import {
  isOpenIncident,
  PERMITS_KEY,
  POWER_QUARANTINE_MS,
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
  type PowerCommand,
  type Reservations,
  type StormMember,
  type StormTrip,
  type VerdictKind,
  type WorkloadRecord,
} from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';
import { isHeardVerdict } from '#domain/verdict/heard.js';
import { isMember } from '#domain/node/membership.js';
import { isSilent } from '#domain/verdict/latest-verdict.js';
import { lastOff, offMark } from '#domain/power/quarantine.js';
import type { Sender } from '../nats/played-server.js';
import {
  freshIntents,
  HandsOracle,
  HandsRules,
  isPowerOwed,
  SLOWEST,
  type HandsOracleParts,
} from '../hands/hands-oracle.js';
import type { ReadOutcome, SentCommand } from '../hands/played-power.js';
import type { HostWitness, PlayedHost, RunEnd } from './played-host.js';
import { Aftermath, type AftermathWorld } from './aftermath.js';
import type { FleetRule } from './fleet-rules.js';
import { isNamed, saidOf, type Obstacle } from './plan-truth.js';
import { isOffInDoubt } from './proof-truth.js';
import { kindOf, Writers } from './writers.js';

type FleetOnly = Exclude<FleetRule, keyof typeof HandsRules>;

export interface FleetOracleParts extends HandsOracleParts, AftermathWorld {
  chassis: HandsOracleParts['chassis'];
  /** So many may be unhealthy at once. */
  brake: number;
  /** The incident of a node is in this phase. */
  phase: (phase: IncidentPhase, node: string, gate: GateCode | undefined) => void;
}

/** Reads of one proof are not so far apart, ms. */
const SECOND_READ_MS = 4_000;
/** What is so little past the end of the quarantine, ms, is right at it. */
const JUST_OVER_MS = 1_000;

/** What a boot has started is named by its node's next report, a second later at most, and that is heard within this, ms. */
const UNHEARD_MS = 2_000;

/** From when a power-on is wanted until its node is read as on, at most, ms: the quarantine, a slow BMC, and one that is asked again. */
const POWER_ON_WITHIN_MS = POWER_QUARANTINE_MS + 15_000;

/** What follows from the end of an incident is written within this, ms. */
const JUST_CLOSED_MS = 1_000;

/** A run that goes on. */
interface Run {
  sinceMs: number;
  /** No job has started it: a boot has. */
  byItself: boolean;
  /** By a boot that Muster did not order. */
  isOfOthers: boolean;
  /** Since when its machine has spoken with it; undefined: it has not, or not for long enough to be heard. */
  spokeSinceMs: number | undefined;
}

/** Where Muster has started it, and it is assigned ever since. */
interface Home {
  node: string;
  sinceMs: number;
  /** Nodes that were proven off then, and since when. */
  proven: ReadonlyMap<string, number>;
}

/** Where a workload ran last, and what became of it there. */
interface LastRun {
  node: string;
  sinceMs: number;
  /** Undefined: it runs. */
  ended: RunEnd | undefined;
  /** Nobody can have heard of it by its end. */
  isUnheard: boolean;
}

/** A storm that will heal. */
interface Storm {
  /** Who fell silent, and will come back. */
  nodes: ReadonlySet<string>;
  sinceMs: number;
  /** Who of them has not been heard again. */
  unheard: Set<string>;
  /** Whom the monitor has called silent since: where it was away, it has seen no other. */
  called: Set<string>;
}

/** What runs where, and what may: beside all that the oracle of the hands knows. */
export class FleetOracle extends HandsOracle<FleetOnly> implements HostWitness {
  private readonly lastRuns = new Map<string, LastRun>();
  /** Workload → machines that it runs on, and since when on each. */
  private readonly runsOn = new Map<string, Map<string, Run>>();
  private readonly homes = new Map<string, Home>();
  /** When somebody conducted for the first time. */
  private conductedSinceMs: number | undefined;
  /** `NODE/WORKLOAD` that ended before anybody who conducts can have heard that it runs there. */
  private readonly neverHeard = new Set<string>();
  /** Node → when it was proven, or confirmed, to be off. It has not begun to speak since. */
  private readonly provenMs = new Map<string, number>();
  /** Of `node/workload`: when the proof of off was found by which it was taken from there. */
  private readonly takenMs = new Map<string, number>();
  /** When a person ordered a node on. */
  private readonly orderedMs = new Map<string, number[]>();
  /** Nodes that a person has confirmed as down, until their machine has ended what ran there, or is on again. */
  private readonly confirmed = new Set<string>();
  /** Incident → what was acknowledged: no intent is written in it any more, but a power-on where that follows. */
  private readonly over = new Map<string, string>();
  /** Incidents whose node has spoken in the boot that was to have ended. */
  private readonly spokeSinceProof = new Set<string>();
  private storms: Storm[] = [];
  /** Incident → when it was written first. */
  private readonly begunMs = new Map<string, number>();
  /** Incident → when it was closed. */
  private readonly closedMs = new Map<string, number>();
  /** Incident → when a person last wanted its node off: ordered it, ordered it too, or released it. */
  private readonly wantedMs = new Map<string, number>();
  /** Incident → when an off of it was last sent. */
  private readonly offSentMs = new Map<string, number>();
  private readonly lastReads = new Map<string, { told: ReadOutcome['told']; fencer: string; atMs: number }>();
  /** Node → its last `off` as it stands in the record, and since when. */
  private readonly offs = new Map<string, { mark: string; sinceMs: number }>();
  /** Of each workload, deleted or not, as last written. */
  private readonly generations = new Map<string, { generation: number; assigned: number; revision: number }>();
  private readonly writers = new Writers();
  /** Buckets that somebody has made anew. */
  private readonly anew = new Set<string>();
  private readonly records = {
    nodes: new Map<string, NodeRecord>(),
    workloads: new Map<string, WorkloadRecord>(),
    alarms: new Map<string, AlarmRecord>(),
  };
  private permits: Permits | undefined;
  /** Incident → since when its permit is on record. */
  private readonly permittedMs = new Map<string, number>();
  /** Storm → when it was tripped, or a member was last seen to be back for the first time. */
  private readonly calmSinceMs = new Map<string, number>();
  private readonly silentSinceMs = new Map<string, number>();
  /** Incident → since when the power-on of its node is wanted. */
  private readonly onWantedMs = new Map<string, number>();
  private reservations: Reservations | undefined;
  private settings: ClusterSettings | undefined;
  private readonly aftermath: Aftermath;

  constructor(private readonly f: FleetOracleParts) {
    super(f);
    const { incidents, jobs, runsOn, silentSinceMs, permittedMs, calmSinceMs, spokeSinceProof, anew } = this;
    this.aftermath = new Aftermath(f, {
      ...{ incidents, jobs, runsOn, silentSinceMs, permittedMs, calmSinceMs, spokeSinceProof, anew },
      ...this.records,
      now: this.now,
      incidentOf: (node) => this.incidentOf(node),
      openIncidents: () => this.openIncidents,
      openJobs: () => this.openJobs(),
      conductor: () => this.holderOf('conductor'),
      fencer: () => this.holderOf('fencer'),
      permits: () => this.permits,
      reservations: () => this.reservations,
      settings: () => this.settings,
    });
  }

  // HostWitness

  started(node: string, workload: string, byItself = false): void {
    const on = this.runsOn.get(workload) ?? new Map<string, Run>();
    this.runsOn.set(workload, on);
    const isOfOthers = (elsewhereMs: number): boolean =>
      byItself &&
      (this.neverHeard.has(`${node}/${workload}`) ||
        this.isBootOfOthers(node, this.elsewhereSince(node, workload) ?? elsewhereMs));
    for (const [other, run] of on) {
      if (this.confirmed.has(other) || this.confirmed.has(node)) this.probe('two machines by the word of a person');
      else if (isOfOthers(run.sinceMs) || this.isUnheard(run))
        this.probe('two machines by a boot that Muster did not order');
      else this.violate('two-machines', `${workload} starts on ${node} and runs on ${other}`);
    }
    const run = {
      ...{ sinceMs: this.now(), byItself },
      isOfOthers: isOfOthers(this.lastRuns.get(workload)?.sinceMs ?? 0),
      spokeSinceMs: this.silentSinceMs.has(node) ? undefined : this.now(),
    };
    if (run.isOfOthers) this.probe('started by a boot that Muster did not order');
    else this.judgeStart(node, workload);
    this.neverHeard.delete(`${node}/${workload}`);
    on.set(node, run);
    this.lastRuns.set(workload, { node, sinceMs: this.now(), ended: undefined, isUnheard: false });
    // Started again where it was, it is there as long as before.
    if (!byItself && this.homes.get(workload)?.node !== node)
      this.homes.set(workload, { node, sinceMs: this.now(), proven: new Map(this.provenMs) });
  }

  /** Nobody can have heard of it, and no order of Muster's has led to it. */
  private isUnheard(run: Run): boolean {
    return run.isOfOthers && !this.isHeard(run);
  }

  private isHeard({ spokeSinceMs }: Run): boolean {
    return spokeSinceMs !== undefined && this.now() - spokeSinceMs >= UNHEARD_MS;
  }

  /**
   * Since when Muster has it on another node, or since that one's machine was proven off for it; undefined: it was started
   * on no other, and not taken from that one.
   */
  private elsewhereSince(node: string, workload: string): number | undefined {
    const takenMs = this.takenMs.get(`${node}/${workload}`);
    if (takenMs !== undefined) return takenMs;
    const home = this.homes.get(workload);
    if (home === undefined || home.node === node) return undefined;
    return Math.min(home.sinceMs, home.proven.get(node) ?? Infinity);
  }

  /**
   * It runs by a boot that Muster did not decide on, and what such a boot starts without asking nobody can keep from it. A
   * person who orders it on is told what it may start. Or it has booted by itself, or was switched on by hand, since the
   * work was started elsewhere: whether that was to be was judged then.
   */
  private isBootOfOthers(node: string, elsewhereSinceMs: number): boolean {
    const changes = this.f.chassis.get(node)?.changes ?? [];
    const last = changes.at(-1);
    const isByHand = last?.by === 'by hand' && last.atMs > elsewhereSinceMs;
    if (isByHand) return true;
    const bootMs = this.f.hosts.get(node)?.bootSinceMs ?? 0;
    // The incident that the order was given in may be over by now, and another order have found the node on.
    const isOf = (orderMs: number): boolean =>
      bootMs > orderMs && changes.filter((c) => c.on && c.atMs > orderMs).length <= 1;
    if ((this.orderedMs.get(node) ?? []).some(isOf)) return true;
    return (
      bootMs > elsewhereSinceMs && !changes.some((c) => c.on && c.atMs > elsewhereSinceMs && c.by.startsWith('fencer'))
    );
  }

  ended(node: string, workload: string, how: RunEnd): void {
    const run = this.runsOn.get(workload)?.get(node);
    this.runsOn.get(workload)?.delete(node);
    if (this.now() < (this.conductedSinceMs ?? Infinity) + UNHEARD_MS) this.neverHeard.add(`${node}/${workload}`);
    const last = this.lastRuns.get(workload);
    if (last?.node !== node) return;
    last.ended = how;
    last.isUnheard = run !== undefined && this.isUnheard(run);
  }

  cleared(node: string, how: 'off' | 'reset'): void {
    this.confirmed.delete(node);
    for (const last of this.lastRuns.values()) if (last.node === node && last.ended === 'died') last.ended = how;
  }

  speaks(node: string, is: boolean): void {
    this.lives(node, is);
    if (is) this.provenMs.delete(node);
    if (is) this.silentSinceMs.delete(node);
    else if (!this.silentSinceMs.has(node)) this.silentSinceMs.set(node, this.now());
    for (const run of [...this.runsOn.values()].flatMap((on) => on.get(node) ?? []))
      if (!this.isHeard(run)) run.spokeSinceMs = is ? (run.spokeSinceMs ?? this.now()) : undefined;
    if (is) for (const { unheard } of this.storms) unheard.delete(node);
    this.endStorms();
    if (!is) {
      const isTarget = (i: IncidentRecord): boolean =>
        i.phase === 'recovering' && i.recovery.some((r) => r.to === node && r.state !== 'running');
      if ([...this.incidents.values()].some(isTarget)) this.probe('a target falls silent during a recovery');
      return;
    }
    const i = this.incidents.get(node);
    if (i?.phase === 'fencing' || i?.phase === 'failed') this.probe('a return during a fencing');
    if (i !== undefined) this.noteSpeaker(i);
  }

  private noteSpeaker(i: IncidentRecord): void {
    const host = this.f.hosts.get(i.node);
    if (isAfterOff(i) && host?.speaks === true && host.bootId === i.bootId) this.spokeSinceProof.add(i.id);
  }

  refusedStale(): void {
    this.probe('a stale generation at a host');
  }

  override madeAnew(bucket: string): void {
    super.madeAnew(bucket);
    this.anew.add(bucket);
  }

  private judgeStart(node: string, workload: string): void {
    const last = this.lastRuns.get(workload);
    if (last === undefined || last.node === node) return;
    if (this.confirmed.has(last.node)) this.probe('started elsewhere by the word of a person');
    else if (last.ended === 'died' && last.isUnheard)
      this.probe('started elsewhere after: a boot that nobody heard of');
    else if (last.ended === 'died')
      this.violate('unproven-start', `${workload} starts on ${node}; ${last.node}, where it died, was not off since`);
    else this.probe(`started elsewhere after: ${last.ended ?? 'it runs'}`);
  }

  // What the world and operators tell

  /** A process ends, whichever way. */
  programEnded(service: string): void {
    for (const i of this.incidents.values()) {
      const isJustClosed = i.phase === 'closed' && this.now() - (this.closedMs.get(i.id) ?? -Infinity) < JUST_CLOSED_MS;
      if (isOpenIncident(i) || isJustClosed) this.probe(`${service} ends while an incident is ${i.phase}`);
    }
  }

  /** A write that the server has refused, since somebody else had written. */
  writeRefused(bucket: string, key: string, from: Sender): void {
    // By such a write, which is always refused, each program asks at its start whether the stream answers.
    if (key === '=') return;
    this.probe(`a compare-and-set is lost: ${bucket}`);
    if (bucket === 'leases') return;
    const { isLate, ofTwoConductors } = this.writers.factsOf(`${bucket}/${key}`, from);
    if (isLate) this.probe(`a late write is refused: ${kindOf(from.client)}`);
    if (ofTwoConductors) this.probe(`two conductors write one record: ${bucket}`);
  }

  /** A write that the server has taken. */
  writeTaken(bucket: string, key: string, from: Sender): void {
    if (bucket === 'leases') return this.writers.leads(key, this.holderOf(key), this.now());
    if (this.writers.factsOf(`${bucket}/${key}`, from).isLate)
      this.probe(`a late write is taken: ${kindOf(from.client)}`);
    this.writers.wrote(`${bucket}/${key}`, from);
  }

  /** A program has said that an act of its own has failed so. */
  coded(process: string, code: string): void {
    if (code === 'STALE_TOKEN') this.probe(`a stale token at ${kindOf(process)}`);
    if (code === 'LEASE_LOST') this.probe(`an act is ended by its lost lease: ${kindOf(process)}`);
  }

  override readEnded(node: string, fencer: string, outcome: ReadOutcome): void {
    super.readEnded(node, fencer, outcome);
    const before = this.lastReads.get(node);
    const isProof = this.incidents.get(node)?.phase === 'fencing' && before?.fencer === fencer;
    const isSecond = isProof && this.now() - before.atMs < SECOND_READ_MS;
    if (isSecond && before.told === 'off' && outcome.told === 'on') this.probe('a second read disagrees');
    this.lastReads.set(node, { told: outcome.told, fencer, atMs: this.now() });
  }

  /** They are cut off together, and will come back by themselves. */
  stormBegins(nodes: readonly string[]): void {
    const speaking = nodes.filter((n) => this.f.hosts.get(n)?.speaks === true);
    // Who is cordoned is no member of the fleet: the brake does not count it.
    const members = speaking.filter((n) => {
      const record = this.records.nodes.get(n);
      return record !== undefined && isMember(record);
    });
    if (members.length <= this.f.brake) return;
    this.storms.push({ nodes: new Set(speaking), sinceMs: this.now(), unheard: new Set(speaking), called: new Set() });
  }

  called(node: string, verdict: VerdictKind): void {
    for (const { nodes, called } of this.storms)
      if (isSilent(verdict) && nodes.has(node)) called.add(node);
      // It judges nobody: whom it calls silent after that is all that anybody knows of the storm.
      else if (verdict === 'UNKNOWN') called.delete(node);
  }

  /** The product knows it, or has to: whom a person has cordoned meanwhile the brake does not count. */
  private countsAsStorm({ nodes, called }: Storm): boolean {
    const counted = [...called].filter((n) => this.records.nodes.get(n)?.cordon === undefined);
    return counted.length > this.f.brake || [...nodes].some((n) => this.isTripped(n));
  }

  private isTripped(node: string): boolean {
    const member = (t: StormTrip): StormMember | undefined => t.members[node];
    return (this.permits?.trips ?? []).some((t) => member(t) !== undefined && member(t)?.released === undefined);
  }

  /**
   * A storm is over where all of it were heard again, are called well, and are held by no storm that the product knows:
   * who falls silent after that does so for a cause of its own.
   */
  private endStorms(): void {
    this.storms = this.storms.filter(
      ({ nodes, unheard }) => unheard.size > 0 || [...nodes].some((n) => !this.f.isCalledUp(n) || this.isTripped(n)),
    );
  }

  /** An order was acknowledged after which the incident that was open then gives no command. */
  acknowledged(incident: string, order: string): void {
    this.over.set(incident, order);
  }

  /** A cleanup begins there. */
  cleaning(host: PlayedHost): void {
    const { runs, name } = host;
    const isKnown = (workload: string): boolean => {
      const run = this.runsOn.get(workload)?.get(name);
      return run?.byItself !== true || this.isHeard(run);
    };
    if (runs.some(isKnown)) this.violate('cleaned-under-work', `${name} is cleaned up and runs ${runs.join(', ')}`);
    else this.probe(runs.length > 0 ? 'cleaned up under what a boot has just started' : 'cleaned up');
  }

  override commandSent(node: string, c: SentCommand): void {
    super.commandSent(node, c);
    if (c.verb === 'on') this.onSent(node, c);
    const i = this.incidents.get(node);
    if (c.verb === 'off' && i !== undefined) this.offSentMs.set(i.id, this.now());
    if (c.verb !== 'off' || i === undefined || isPastStorm(i)) return;
    const begunMs = this.begunMs.get(i.id) ?? 0;
    // One that was dead to all before the storm began is no member of it, whatever it does by now.
    const storm = this.storms.find((s) => s.nodes.has(node) && s.sinceMs < begunMs);
    if (storm === undefined || !this.countsAsStorm(storm)) return;
    const forMs = Math.round(this.now() - storm.sinceMs);
    if (this.f.hosts.get(node)?.state === 'up')
      this.violate('storm-off', `${c.fencer} gave off to ${node}, ${forMs} ms into a storm of ${storm.nodes.size}`);
  }

  /**
   * Only as long as the order is being executed that a person gave of a machine that lived: what has booted since was not
   * meant by it, unless the monitor heard it then and no off was sent in between.
   */
  protected override isWanted(node: string, i: IncidentRecord, livesSinceMs: number): boolean {
    const wantedMs = this.wantedMs.get(i.id);
    const isForced = i.released?.force === true;
    if (wantedMs === undefined || (i.cause !== 'manual' && !isForced)) return false;
    const wasOffSent = (this.offSentMs.get(i.id) ?? -Infinity) > wantedMs;
    const isMeant = livesSinceMs <= wantedMs || (isHeardVerdict(i.wantedAt) && !wasOffSent);
    // Who released it with force did not care whether it lives. Was it silent then, that it is called up by now ends it.
    const isByWord = isMeant || (isForced && !this.f.isCalledUp(node));
    if (isByWord) this.probe('off to a machine that lives by the word of a person');
    return isByWord;
  }

  private onSent(node: string, { fencer, begunMs }: SentCommand): void {
    // What is read from now on is of after it.
    this.lastReads.delete(node);
    const off = this.offs.get(node);
    if (off === undefined) return;
    const forMs = begunMs - off.sinceMs;
    // The clock of a host may gain so much on ours.
    const overMs = forMs - POWER_QUARANTINE_MS * SLOWEST;
    if (overMs < 0)
      this.violate(
        'on-in-quarantine',
        `${fencer} gave on to ${node} ${Math.round(forMs)} ms after the last word of an off`,
      );
    else if (overMs < JUST_OVER_MS) this.probe('powered on right as the quarantine ends');
  }

  override stored(bucket: string, key: string, text: string, revision: number): void {
    const before = bucket === 'incidents' ? this.incidents.get(key) : undefined;
    super.stored(bucket, key, text, revision);
    if (bucket === 'jobs' && this.jobs.get(key)?.outranked !== undefined)
      this.probe('a job of a conductor that was replaced is refused');
    if (bucket === 'leases' && key === 'conductor') this.conductedSinceMs ??= this.now();
    if (bucket === 'incidents' && text !== '') this.incidentWritten(key, before);
    else if (bucket === 'nodes') this.nodeWritten(key, text);
    else if (bucket === 'workloads') this.workloadWritten(key, text, revision);
    else if (bucket === 'alarms') keep(this.records.alarms, key, text);
    else if (bucket === 'admission' && key === PERMITS_KEY) this.permitsWritten(read<Permits>(text));
    else if (bucket === 'admission' && key === RESERVATIONS_KEY) this.reservationsWritten(read<Reservations>(text));
    else if (bucket === 'settings' && key === SETTINGS_KEY) this.settings = read<ClusterSettings>(text);
  }

  private nodeWritten(node: string, text: string): void {
    const { nodes } = this.records;
    const before = nodes.get(node)?.status;
    keep(nodes, node, text);
    this.endStorms();
    const status = nodes.get(node)?.status;
    if (before !== undefined && status !== undefined && status !== before) this.probe(`${before} → ${status}`);
  }

  /**
   * Hosts refuse what is not newer than what they last ran, also of a workload that was deleted and is registered again.
   * Who writes after a server that has lost its last writes does not know of those.
   */
  private workloadWritten(name: string, text: string, revision: number): void {
    const from = this.records.workloads.get(name)?.assignment?.node;
    keep(this.records.workloads, name, text);
    const now = this.records.workloads.get(name);
    if (now === undefined) return;
    const at = now.assignment?.node;
    const provenMs = from === undefined || from === at ? undefined : this.provenMs.get(from);
    if (provenMs !== undefined) this.takenMs.set(`${from}/${name}`, provenMs);
    if (at !== undefined) this.takenMs.delete(`${at}/${name}`);
    if (at !== undefined && this.homes.get(name)?.node !== at) this.homes.delete(name);
    const was = this.generations.get(name);
    const known = was !== undefined && was.revision < revision ? was : { generation: 0, assigned: 0 };
    const assigned = now.assignment?.generation ?? known.assigned;
    if (now.generation < known.generation)
      this.violate('generation-back', `${name} is of generation ${now.generation} after ${known.generation}`);
    if (assigned < known.assigned)
      this.violate('generation-back', `${name} is assigned with generation ${assigned} after ${known.assigned}`);
    this.generations.set(name, { generation: now.generation, assigned, revision });
  }

  private reservationsWritten(now: Reservations | undefined): void {
    const { claims = {}, edits = {} } = this.reservations ?? {};
    for (const id of Object.keys(claims)) if (now?.claims?.[id] === undefined) this.probe('a claim is over');
    for (const id of Object.keys(edits))
      if (now?.edits?.[id] === undefined) this.probe('an edit of several nodes is over');
    this.reservations = now;
  }

  private permitsWritten(permits: Permits | undefined): void {
    const known = new Set((this.permits?.trips ?? []).map((t) => t.id));
    const stands = new Set((permits?.trips ?? []).map((t) => t.id));
    for (const id of stands) if (!known.has(id)) this.probe('a storm is tripped');
    for (const id of known) if (!stands.has(id)) this.probe('a storm is over');
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
    if (before?.id !== i.id) this.begunMs.set(i.id, this.now());
    if (i.phase === 'closed' && before?.phase !== 'closed') this.closedMs.set(i.id, this.now());
    if (isWantedAnew(i, before)) this.wantedMs.set(i.id, this.now());
    // A word of before its machine was on again says nothing of it any more, however often it is written.
    const isNewWord = before?.id !== i.id || before.proof?.kind !== 'manual' || before.proof.at !== i.proof?.at;
    if (i.proof?.kind === 'manual' && isNewWord) this.confirmed.add(node);
    if (i.proof !== undefined && i.proof.at !== before?.proof?.at) this.provenMs.set(node, this.now());
    if (i.order?.action === 'on' && i.order.at !== before?.order?.at)
      this.orderedMs.set(node, [...(this.orderedMs.get(node) ?? []), this.now()]);
    if (i.powerOn?.wanted === true && (before?.id !== i.id || before.powerOn?.wanted !== true))
      this.onWantedMs.set(i.id, this.now());
    this.judgeOnTold(node, i, before);
    this.noteSpeaker(i);
    const mark = offMark(i);
    if (lastOff(i) !== undefined && this.offs.get(node)?.mark !== mark)
      this.offs.set(node, { mark, sinceMs: this.now() });
    if (i.contradiction !== undefined && before?.contradiction?.at !== i.contradiction.at) {
      this.probe(`a contradiction voids a proof: ${i.contradiction.proof?.kind ?? 'none'}`);
      // Its word was that the node is down. It was not, and may die again.
      if (this.over.get(i.id) === 'confirm') this.over.delete(i.id);
    }
    if (before?.id === i.id && isOffInDoubt(before) && !isOffInDoubt(i))
      this.probe(`a collateral hold is over: ${i.phase}`);
    this.judgeIntents(node, i, before);
    if (before?.id === i.id && before.phase === i.phase && before.gate === i.gate) return;
    this.probe(i.phase === 'suppressed' ? `stopped by ${i.gate ?? 'no gate'}` : `incident ${i.phase}`);
    if (before?.id === i.id && before.phase === 'suppressed' && i.phase === 'fencing')
      this.probe(`past ${before.gate ?? 'no gate'}`);
    if (before?.id === i.id && before.phase !== 'fencing' && i.phase === 'fencing')
      for (const gate of i.released?.gates ?? []) this.probe(`released past ${gate}`);
    this.f.phase(i.phase, node, i.phase === 'suppressed' ? i.gate : undefined);
  }

  private judgeOnTold(node: string, i: IncidentRecord, before: IncidentRecord | undefined): void {
    const known = before?.id === i.id ? before : undefined;
    const bySystem = i.powerOn?.ok === true && known?.powerOn?.ok !== true;
    const byOrder = i.order?.action === 'on' && i.order.ok === true && known?.order?.ok !== true;
    if (!bySystem && !byOrder) return;
    const chassis = this.f.chassis.get(node);
    const byHand = chassis?.changes.at(-1)?.by === 'by hand';
    if (chassis?.on === true || byHand) this.probe('told as powered on');
    else this.violate('on-told-early', `${node} is told as powered on, and is off`);
  }

  private judgeIntents(node: string, i: IncidentRecord, before: IncidentRecord | undefined): void {
    const order = this.over.get(i.id);
    if (order === undefined) return;
    // What a person orders later, of a node whose incident is over, stands in the same record.
    const isOrdered = (c: PowerCommand): boolean => c.verb === i.order?.action && c.n > i.order.after;
    // By a confirmation it is recovered, and what is recovered is powered on again.
    const isRecovery = (c: PowerCommand): boolean => c.verb === 'on' && order === 'confirm';
    for (const c of freshIntents(before, i))
      if (!isOrdered(c) && !isRecovery(c))
        this.violate('intent-after-order', `${c.verb} of ${node} was written after its ${order} was acknowledged`);
  }

  // The end

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
    return (this.permits?.trips ?? []).map((t) => t.id);
  }

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
    const owed = [...this.incidents.values()].filter((i) => isPowerOwed(i) && i.powerOn?.wanted === true);
    return Math.max(0, ...owed.map(({ id }) => (this.onWantedMs.get(id) ?? 0) + POWER_ON_WITHIN_MS));
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

/** A person has let it go although many are silent, or ordered off a machine that is not silent itself. */
const isPastStorm = ({ cause, wantedAt, released }: IncidentRecord): boolean =>
  released?.gates.some((gate) => gate === 'BRAKE' || gate === 'DOMAIN') === true ||
  (cause === 'manual' && isHeardVerdict(wantedAt));

/** By this write: whoever orders what is ordered already is noted in its story. */
function isWantedAnew(i: IncidentRecord, before: IncidentRecord | undefined): boolean {
  if (before?.id !== i.id) return i.wantedAt !== undefined;
  const orders = ({ steps }: IncidentRecord): number => steps.filter((s) => / ordered it too: /.test(s.detail)).length;
  return before.released?.at !== i.released?.at || orders(before) < orders(i);
}

const returnsOf = (t: StormTrip): number => Object.values(t.members).filter((m) => m.returned === true).length;

const read = <T>(text: string): T | undefined => (text === '' ? undefined : (JSON.parse(text) as T));

function keep<T>(records: Map<string, T>, key: string, text: string): void {
  const record = read<T>(text);
  if (record === undefined) records.delete(key);
  else records.set(key, record);
}
