import type { IncidentRecord, WorkloadRecord } from '#contracts';
import type { Chassis } from '../hands/chassis.js';
import type { Findings } from './fleet-rules.js';
import type { PlayedHost, RunEnd } from './played-host.js';

export interface WorkWorld {
  chassis: ReadonlyMap<string, Chassis>;
  hosts: ReadonlyMap<string, PlayedHost>;
  /** Its system does not speak. */
  isSilent: (node: string) => boolean;
}

/** What a boot has started is named by its node's next report, a second later at most, and that is heard within this, ms. */
const UNHEARD_MS = 2_000;

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

/** What runs where, and what may: never on two machines, nor elsewhere before a proof of off. Times in virtual ms. */
export class WorkOracle {
  /** Workload → machines that it runs on, and since when on each. */
  readonly runsOn = new Map<string, Map<string, Run>>();
  private readonly lastRuns = new Map<string, LastRun>();
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
  /** Of each workload, deleted or not, as last written. */
  private readonly generations = new Map<string, { generation: number; assigned: number; revision: number }>();

  constructor(
    private readonly f: Findings,
    private readonly w: WorkWorld,
  ) {}

  started(node: string, workload: string, byItself = false): void {
    const on = this.runsOn.get(workload) ?? new Map<string, Run>();
    this.runsOn.set(workload, on);
    const isOfOthers = (elsewhereMs: number): boolean =>
      byItself &&
      (this.neverHeard.has(`${node}/${workload}`) ||
        this.isBootOfOthers(node, this.elsewhereSince(node, workload) ?? elsewhereMs));
    for (const [other, run] of on) {
      if (this.confirmed.has(other) || this.confirmed.has(node)) this.f.probe('two machines by the word of a person');
      else if (isOfOthers(run.sinceMs) || this.isUnheard(run))
        this.f.probe('two machines by a boot that Muster did not order');
      else this.f.violate('two-machines', `${workload} starts on ${node} and runs on ${other}`);
    }
    const run = {
      ...{ sinceMs: this.f.now(), byItself },
      isOfOthers: isOfOthers(this.lastRuns.get(workload)?.sinceMs ?? 0),
      spokeSinceMs: this.w.isSilent(node) ? undefined : this.f.now(),
    };
    if (run.isOfOthers) this.f.probe('started by a boot that Muster did not order');
    else this.judgeStart(node, workload);
    this.neverHeard.delete(`${node}/${workload}`);
    on.set(node, run);
    this.lastRuns.set(workload, { node, sinceMs: this.f.now(), ended: undefined, isUnheard: false });
    // Started again where it was, it is there as long as before.
    if (!byItself && this.homes.get(workload)?.node !== node)
      this.homes.set(workload, { node, sinceMs: this.f.now(), proven: new Map(this.provenMs) });
  }

  /** Nobody can have heard of it, and no order of Muster's has led to it. */
  private isUnheard(run: Run): boolean {
    return run.isOfOthers && !this.isHeard(run);
  }

  private isHeard({ spokeSinceMs }: Run): boolean {
    return spokeSinceMs !== undefined && this.f.now() - spokeSinceMs >= UNHEARD_MS;
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
    const changes = this.w.chassis.get(node)?.changes ?? [];
    const last = changes.at(-1);
    const isByHand = last?.by === 'by hand' && last.atMs > elsewhereSinceMs;
    if (isByHand) return true;
    const bootMs = this.w.hosts.get(node)?.bootSinceMs ?? 0;
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
    if (this.f.now() < (this.conductedSinceMs ?? Infinity) + UNHEARD_MS) this.neverHeard.add(`${node}/${workload}`);
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
    if (is) this.provenMs.delete(node);
    for (const run of [...this.runsOn.values()].flatMap((on) => on.get(node) ?? []))
      if (!this.isHeard(run)) run.spokeSinceMs = is ? (run.spokeSinceMs ?? this.f.now()) : undefined;
  }

  private judgeStart(node: string, workload: string): void {
    const last = this.lastRuns.get(workload);
    if (last === undefined || last.node === node) return;
    if (this.confirmed.has(last.node)) this.f.probe('started elsewhere by the word of a person');
    else if (last.ended === 'died' && last.isUnheard)
      this.f.probe('started elsewhere after: a boot that nobody heard of');
    else if (last.ended === 'died')
      this.f.violate('unproven-start', `${workload} starts on ${node}; ${last.node}, where it died, was not off since`);
    else this.f.probe(`started elsewhere after: ${last.ended ?? 'it runs'}`);
  }

  /** A cleanup begins there. */
  cleaning(host: PlayedHost): void {
    const { runs, name } = host;
    const isKnown = (workload: string): boolean => {
      const run = this.runsOn.get(workload)?.get(name);
      return run?.byItself !== true || this.isHeard(run);
    };
    if (runs.some(isKnown)) this.f.violate('cleaned-under-work', `${name} is cleaned up and runs ${runs.join(', ')}`);
    else this.f.probe(runs.length > 0 ? 'cleaned up under what a boot has just started' : 'cleaned up');
  }

  /** Somebody conducts. */
  conducts(): void {
    this.conductedSinceMs ??= this.f.now();
  }

  incidentWritten(node: string, i: IncidentRecord, before: IncidentRecord | undefined): void {
    // A word of before its machine was on again says nothing of it any more, however often it is written.
    const isNewWord = before?.id !== i.id || before.proof?.kind !== 'manual' || before.proof.at !== i.proof?.at;
    if (i.proof?.kind === 'manual' && isNewWord) this.confirmed.add(node);
    if (i.proof !== undefined && i.proof.at !== before?.proof?.at) this.provenMs.set(node, this.f.now());
    if (i.order?.action === 'on' && i.order.at !== before?.order?.at)
      this.orderedMs.set(node, [...(this.orderedMs.get(node) ?? []), this.f.now()]);
  }

  workloadWritten(was: WorkloadRecord | undefined, w: WorkloadRecord, revision: number): void {
    const from = was?.assignment?.node;
    const at = w.assignment?.node;
    const provenMs = from === undefined || from === at ? undefined : this.provenMs.get(from);
    if (provenMs !== undefined) this.takenMs.set(`${from}/${w.name}`, provenMs);
    if (at !== undefined) this.takenMs.delete(`${at}/${w.name}`);
    if (at !== undefined && this.homes.get(w.name)?.node !== at) this.homes.delete(w.name);
    this.judgeGeneration(w, revision);
  }

  /**
   * Hosts refuse what is not newer than what they last ran, also of a workload that was deleted and is registered again.
   * Who writes after a server that has lost its last writes does not know of those.
   */
  private judgeGeneration({ name, generation, assignment }: WorkloadRecord, revision: number): void {
    const was = this.generations.get(name);
    const known = was !== undefined && was.revision < revision ? was : { generation: 0, assigned: 0 };
    const assigned = assignment?.generation ?? known.assigned;
    if (generation < known.generation)
      this.f.violate('generation-back', `${name} is of generation ${generation} after ${known.generation}`);
    if (assigned < known.assigned)
      this.f.violate('generation-back', `${name} is assigned with generation ${assigned} after ${known.assigned}`);
    this.generations.set(name, { generation, assigned, revision });
  }
}
