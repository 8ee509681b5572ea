import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  MusterError,
  brakeLimit,
  capLimit,
  defaultStorm,
  isOpenIncident,
  type IncidentRecord,
  type NodeRecord,
  type Permits,
  type PowerCommand,
  type VerdictKind,
  type WorkloadRecord,
} from '#contracts';
import { runs, SEED } from '#contracts/testing/chance.js';
import { isMember } from '#domain/node/membership.js';
import { go } from '#domain/incident/steps.js';
import { decideIncident } from '#domain/incident/decide-incident.js';
import { askGates, type GateFacts } from '#domain/incident/gates.js';
import { workloadAfter } from '#domain/workload/changes.js';
import { placeWorkloads } from '#domain/workload/placement.js';
import { askStartGate } from '#domain/workload/start-decision.js';
import { checkStart } from '#domain/workload/where-it-runs.js';
import { newIncident } from '../plan/incidents/new-incident.js';
import { decidePermit } from '#domain/incident/permits.js';
import type { StormFacts } from '#domain/incident/storm-counts.js';
import { isUnrecovered } from '#domain/incident/candidates.js';
import { aNode, aVerdict, aWorkload, enforced } from '../testing/records.js';
import { isSettledRecovery, recoveryOf } from '../plan/recovery/recovery-line.js';

/** A machine as it really is, which no record can change. */
interface Machine {
  power: boolean;
  /** Its system works: it runs what was started. A cut one works too, and nobody hears it. */
  alive: boolean;
  cut: boolean;
  boot: number;
  runs: Set<string>;
  /** Ignores `off` and says so only by staying on. */
  stuck: boolean;
  /** Offs that were given and have not landed: they may, any time later. */
  late: number;
  /** Gate answers that were given and not yet used. */
  pendingStarts: string[];
}

/** Values with revisions; a write on an old revision is refused. */
class Kv<T> {
  private readonly values = new Map<string, { value: T; revision: number }>();
  private revision = 0;
  get(key: string): { value: T; revision: number } | undefined {
    return this.values.get(key);
  }
  write(key: string, value: T | undefined, revision: number): boolean {
    if ((this.values.get(key)?.revision ?? 0) !== revision) return false;
    if (value !== undefined) this.values.set(key, { value, revision: ++this.revision });
    return true;
  }
  all(): T[] {
    return [...this.values.values()].map((x) => x.value);
  }
}

const NODES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const WORKLOADS = ['w1', 'w2', 'w3'];

/**
 * The judge's pure decisions over a store with revisions, two deciders that act on what they read some steps ago, a
 * model fencer, and machines that die, are cut off, hang on to their power, and boot by themselves.
 */
class World {
  readonly machines = new Map<string, Machine>();
  readonly nodes = new Kv<NodeRecord>();
  readonly incidents = new Kv<IncidentRecord>();
  readonly workloads = new Kv<WorkloadRecord>();
  readonly permits = new Kv<Permits>();
  /** Writes that a decider has prepared from what it read, and not yet sent. */
  readonly prepared: (() => void)[] = [];
  recovered = 0;
  private ids = 0;

  constructor() {
    for (const n of NODES) {
      this.machines.set(n, {
        power: true,
        alive: true,
        cut: false,
        boot: 1,
        runs: new Set(),
        stuck: false,
        late: 0,
        pendingStarts: [],
      });
      this.nodes.write(n, aNode(n, { failureDomain: n, bootId: `${n}1` }), 0);
    }
    WORKLOADS.forEach((w, n) => {
      const on = NODES[n] as string;
      this.workloads.write(w, aWorkload(w, { generation: 1, assignment: { node: on, generation: 1 } }), 0);
      this.machine(on).runs.add(w);
    });
  }

  machine(n: string): Machine {
    return this.machines.get(n) as Machine;
  }
  heard(n: string): boolean {
    const m = this.machine(n);
    return m.power && m.alive && !m.cut;
  }
  verdict(n: string): VerdictKind {
    return this.heard(n) ? 'UP' : 'DOWN';
  }

  /**
   * Never two; never permits for more nodes than the brake allows, nor more in all than the cap: no time passes here, so
   * that every permit counts. A node whose incident was cancelled has its second permit on the same place of the brake.
   */
  check(): void {
    for (const w of WORKLOADS) {
      const on = NODES.filter((n) => this.machine(n).power && this.machine(n).runs.has(w));
      if (on.length > 1) throw new Error(`${w} runs on ${on.join(' and ')}`);
    }
    const granted = this.permits.get('permits')?.value.granted ?? [];
    const fenced = new Set(granted.map((g) => g.node)).size;
    if (fenced > brakeLimit(NODES.length, defaultStorm)) throw new Error(`permits for ${fenced} nodes`);
    if (granted.length > capLimit(NODES.length, defaultStorm)) throw new Error(`${granted.length} permits`);
    for (const i of this.incidents.all())
      if (['fenced', 'recovering', 'recovered'].includes(i.phase) && i.proof === undefined)
        throw new Error(`${i.id} is ${i.phase} without a proof`);
  }

  private storm(): Omit<StormFacts, 'grants'> {
    const members = this.nodes.all().filter(isMember);
    return {
      limits: defaultStorm,
      members: members.length,
      silent: members
        .filter((n) => !this.heard(n.name))
        .map((n) => ({ node: n.name, domain: n.failureDomain, forMs: 0 })),
      unrecovered: this.incidents
        .all()
        .filter(isUnrecovered)
        .map((i) => i.node),
      domains: {},
      domainOf: (x) => x,
    };
  }

  private facts(n: string, incident: IncidentRecord | undefined): GateFacts {
    const open = this.incidents.get(n)?.value;
    const verdict = aVerdict(n, { verdict: this.verdict(n), bootId: `${n}${this.machine(n).boot}` });
    return {
      cause: 'auto',
      node: (this.nodes.get(n) as { value: NodeRecord }).value,
      incident,
      open: open !== undefined && isOpenIncident(open) ? open : undefined,
      detector: { fresh: true, sighted: true, members: NODES.length, reporters: NODES.length - 1 },
      verdict: this.heard(n) ? { ...verdict, evidence: { ...verdict.evidence, ownReportAgeMs: 10 } } : verdict,
      settings: enforced(),
      reservedBy: { known: true },
      storm: { ...this.storm(), grants: [] },
      broker: { servers: ['x'], total: 1, onThisNode: [], doubtful: [], unresolved: [] },
      otherFencers: 1,
      wallNow: 0,
    };
  }

  /** A decider reads and decides now; its write goes out at some later step, or never. */
  judge(n: string): void {
    const seen = this.incidents.get(n);
    const node = this.nodes.get(n)?.value;
    if (node === undefined) return;
    if (seen === undefined || !isOpenIncident(seen.value)) {
      if (this.verdict(n) !== 'DOWN' || node.confirmedOff !== undefined) return;
      const gates = askGates(this.facts(n, undefined));
      const verdict = aVerdict(n, { bootId: `${n}${this.machine(n).boot}` });
      const record = newIncident({
        id: `i${this.ids++}`,
        node,
        cause: 'auto',
        reason: 'x',
        verdict,
        gates,
        conductor: 1,
        story: '',
        at: 0,
      });
      this.prepared.push(() => void this.incidents.write(n, record, seen?.revision ?? 0));
      return;
    }
    const i = seen.value;
    if (!['investigating', 'suppressed', 'fencing', 'failed'].includes(i.phase)) return;
    const has = this.permits.get('permits')?.value.granted.some((g) => g.incident === i.id) === true;
    const d = decideIncident(i, this.facts(n, i), has);
    if (d.do === 'cancel')
      this.prepared.push(() => void this.incidents.write(n, go(i, 'cancelled', d.reason, 0), seen.revision));
    if (d.do === 'suppress' && i.phase !== 'suppressed')
      this.prepared.push(
        () => void this.incidents.write(n, { ...go(i, 'suppressed', '', 0), gate: d.gate.gate }, seen.revision),
      );
    if (d.do !== 'fence' || i.phase === 'fencing') return;
    const current = this.permits.get('permits');
    const permit = decidePermit(current?.value, {
      incident: i.id,
      node,
      storm: this.storm(),
      released: [],
      open: new Set(),
      ageMs: () => 0,
      newId: () => 's-1',
      at: 0,
    });
    if (!permit.granted) return;
    if (!this.permits.write('permits', permit.permits, current?.revision ?? 0)) return;
    this.prepared.push(() => void this.incidents.write(n, go(i, 'fencing', '', 0), seen.revision));
  }

  /** The leader's intent, after its recheck, on the revision that was rechecked. */
  orderOff(n: string): void {
    const seen = this.incidents.get(n);
    if (seen?.value.phase !== 'fencing' || decideIncident(seen.value, this.facts(n, seen.value), true).do !== 'fence')
      return;
    const off: PowerCommand = {
      n: seen.value.commands.length,
      epoch: 1,
      fencer: 'f',
      level: 0,
      device: 'bmc',
      verb: 'off',
      at: 0,
    };
    this.prepared.push(() => {
      if (this.incidents.write(n, { ...seen.value, commands: [...seen.value.commands, off] }, seen.revision))
        this.machine(n).late += 1;
    });
  }

  landOff(n: string): void {
    const m = this.machine(n);
    if (m.late === 0) return;
    m.late -= 1;
    if (!m.stuck) this.switchOff(m);
  }

  private switchOff(m: Machine): void {
    m.power = false;
    m.runs.clear();
    m.pendingStarts = [];
  }

  /** Two off-reads: what the device says is what is. The quarantine: nothing late is left when a proof is written. */
  readBack(n: string): void {
    const seen = this.incidents.get(n);
    const m = this.machine(n);
    if (seen?.value.phase !== 'fencing' || seen.value.commands.length === 0) return;
    if (m.power) this.incidents.write(n, go(seen.value, 'failed', '', 0, 'fencer'), seen.revision);
    else
      this.incidents.write(
        n,
        { ...go(seen.value, 'fenced', '', 0, 'fencer'), proof: { kind: 'read-back', at: 0 } },
        seen.revision,
      );
  }

  recover(n: string): void {
    const seen = this.incidents.get(n);
    const i = seen?.value;
    if (seen === undefined || i === undefined) return;
    if (i.phase === 'fenced') {
      const node = this.nodes.get(n) as { value: NodeRecord; revision: number };
      const off = { at: 0, incident: i.id, ...(i.bootId !== undefined && { bootId: i.bootId }) };
      this.nodes.write(
        n,
        { ...node.value, state: 'Disappeared', maintenance: { reason: 'fenced', at: 0 }, confirmedOff: off },
        node.revision,
      );
      const recovery = this.workloads
        .all()
        .filter((w) => w.assignment?.node === n)
        .map((w) => ({ workload: w.name, from: n, state: 'waiting' as const }));
      this.prepared.push(
        () => void this.incidents.write(n, { ...go(i, 'recovering', '', 0), recovery }, seen.revision),
      );
    }
    if (i.phase === 'recovering') {
      for (const w of this.workloads.all().filter((x) => x.assignment?.node === n)) {
        const at = this.workloads.get(w.name)?.revision ?? 0;
        this.prepared.push(() => void this.workloads.write(w.name, workloadAfter(w, { kind: 'cleared', from: n }), at));
      }
      const recovery = i.recovery.map((r) => recoveryOf(r, this.workloads.get(r.workload)?.value, false));
      if (
        recovery.every(isSettledRecovery) &&
        this.incidents.write(n, { ...go(i, 'recovered', '', 0), recovery }, seen.revision)
      )
        this.recovered += 1;
    }
  }

  private inService(n: NodeRecord): boolean {
    const i = this.incidents.get(n.name)?.value;
    return n.maintenance === undefined && n.confirmedOff === undefined && (i === undefined || !isOpenIncident(i));
  }

  place(w: string): void {
    const seen = this.workloads.get(w);
    if (seen === undefined || seen.value.assignment !== undefined) return;
    const hosts = this.nodes.all().map((n) => ({
      name: n.name,
      capacity: Infinity,
      used: 0,
      reserve: false,
      out: this.inService(n) ? undefined : 'out',
    }));
    const to = placeWorkloads([seen.value], hosts)[0]?.to;
    if (to !== undefined)
      this.prepared.push(() => {
        const { generation } = seen.value;
        const next = workloadAfter(seen.value, { kind: 'assigned', to, cause: 'incident:x', generation });
        this.workloads.write(w, next, seen.revision);
      });
  }

  /** Conductor's check and job, then the provisioner's check and the gate: what it allows is used some steps later. */
  allowStart(w: string): void {
    const seen = this.workloads.get(w);
    const at = seen?.value.assignment;
    if (seen === undefined || at === undefined || seen.value.start === undefined) return;
    if (seen.value.start.job === undefined)
      this.workloads.write(
        w,
        workloadAfter(seen.value, { kind: 'start-given', job: 'j', generation: at.generation }),
        seen.revision,
      );
    this.askGate(w, at.node, true);
  }

  askGate(w: string, n: string, checked: boolean): void {
    const m = this.machine(n);
    if (!m.power || !m.alive) return;
    const gate = askStartGate({
      node: n,
      workload: this.workloads.get(w)?.value,
      record: this.nodes.get(n)?.value,
      incident: this.incidents.get(n)?.value,
      boot: `${n}${m.boot}`,
      barred: undefined,
      seenOn: undefined,
    });
    const fresh = NODES.filter((x) => this.heard(x)).map((x) => ({
      node: x,
      bootId: `${x}${this.machine(x).boot}`,
      workloads: [...this.machine(x).runs].map((name) => ({ name, generation: 1 })),
    }));
    if (
      checked &&
      checkStart({ workload: w, target: n, mustAnswer: [], unproven: [], fresh, lastWord: () => undefined }).kind !==
        'clear'
    )
      return;
    if (gate.allowed && !m.pendingStarts.includes(w)) m.pendingStarts.push(w);
  }

  useStart(n: string): void {
    const m = this.machine(n);
    const w = m.pendingStarts.pop();
    if (w === undefined || !m.power || !m.alive) return;
    m.runs.add(w);
    const seen = this.workloads.get(w);
    if (seen?.value.start === undefined || seen.value.assignment?.node !== n) return;
    const { generation } = seen.value.assignment;
    this.workloads.write(w, workloadAfter(seen.value, { kind: 'started', generation, boot: undefined }), seen.revision);
  }

  /** By hand, by its chassis, by anyone: every unit that is enabled there asks its gate. */
  bootByItself(n: string): void {
    const m = this.machine(n);
    if (m.late > 0) return;
    Object.assign(m, { power: true, alive: true, boot: m.boot + 1 });
    m.runs.clear();
    m.pendingStarts = [];
    for (const w of WORKLOADS) this.askGate(w, n, false);
  }

  /** Its check has passed: the boot that is heard is taken for its running system, and the node serves again. */
  takeBack(n: string): void {
    const { value, revision } = this.nodes.get(n) as { value: NodeRecord; revision: number };
    const { maintenance: _m, confirmedOff: _c, ...rest } = value;
    const seen = this.incidents.get(n);
    if (seen !== undefined && isOpenIncident(seen.value) && seen.value.phase !== 'recovered') return;
    this.nodes.write(n, { ...rest, state: 'Discovered', bootId: `${n}${this.machine(n).boot}` }, revision);
    if (seen?.value.phase === 'recovered') this.incidents.write(n, go(seen.value, 'closed', '', 0), seen.revision);
  }

  die(n: string): void {
    const m = this.machine(n);
    m.alive = false;
    m.runs.clear();
    m.pendingStarts = [];
  }
}

type Act = () => void;

/** What somebody could do now: everything else would change nothing, and is not worth a step. */
function possible(world: World): Act[] {
  const acts: Act[] = [];
  for (const n of NODES) {
    const m = world.machine(n);
    const i = world.incidents.get(n)?.value;
    const phase = i !== undefined && isOpenIncident(i) ? i.phase : undefined;
    if (world.verdict(n) === 'DOWN' || (phase !== undefined && phase !== 'recovered')) acts.push(() => world.judge(n));
    if (phase === 'fencing') acts.push(() => world.orderOff(n));
    if (phase === 'fencing' && (i?.commands.length ?? 0) > 0) acts.push(() => world.readBack(n));
    if (phase === 'fenced' || phase === 'recovering') acts.push(() => world.recover(n));
    if (world.heard(n) && world.nodes.get(n)?.value.bootId !== `${n}${m.boot}`) acts.push(() => world.takeBack(n));
    if (m.late > 0) acts.push(() => world.landOff(n));
    if (m.pendingStarts.length > 0) acts.push(() => world.useStart(n));
  }
  for (const { name, assignment, start } of world.workloads.all()) {
    if (assignment === undefined) acts.push(() => world.place(name));
    if (start !== undefined) acts.push(() => world.allowStart(name));
  }
  world.prepared.forEach((_write, at) => acts.push(() => world.prepared.splice(at, 1)[0]?.()));
  return acts;
}

/** Faults, mostly of nodes that matter: those that a workload is on. */
function fault(world: World, kind: number, on: number): void {
  const n = NODES[on % NODES.length] as string;
  const m = world.machine(n);
  if (kind < 3) world.die(n);
  else if (kind < 6) m.cut = true;
  else if (kind < 7) m.cut = false;
  else if (kind < 8) world.bootByItself(n);
  // Somebody starts everything by hand, on any node.
  else if (kind < 9) for (const w of WORKLOADS) world.askGate(w, n, false);
  else m.stuck = !m.stuck;
}

const step = fc.record({ pick: fc.nat(1_000_000), fault: fc.nat(24), on: fc.nat(NODES.length - 1) });

describe('the judge, with two deciders, late writes and machines that do what they like', () => {
  it('never lets a workload run twice, and never fences more than the brake allows', () => {
    let recovered = 0;
    const numRuns = runs(200);
    const histories = fc.check(
      fc.property(fc.array(step, { minLength: 60, maxLength: 300, size: 'max' }), (steps) => {
        const world = new World();
        for (const s of steps) {
          const acts = possible(world);
          if (s.fault < 10 && (s.fault < 1 || acts.length === 0)) fault(world, s.pick % 10, s.on);
          else acts[s.pick % Math.max(1, acts.length)]?.();
          world.check();
        }
        recovered += world.recovered;
      }),
      // Shrinking hundreds of steps takes minutes and says little more.
      { numRuns, endOnFailure: true },
    );
    // The seed is said and the history is not: it fills a screen thousands of lines long.
    if (histories.failed)
      throw new Error(
        `MUSTER_SEED=${SEED}, history ${histories.numRuns}: ${MusterError.from(histories.errorInstance).message}`,
        { cause: histories.errorInstance },
      );
    // A simulation in which nothing ever comes through would prove nothing.
    expect(recovered).toBeGreaterThan(numRuns / 2);
  });

  it('brings every workload of a dead node back, when nothing else happens', () => {
    const world = new World();
    world.die('a');
    // Any order will do: a fixed one that is not a rhythm.
    for (let n = 0, pick = 7; n < 600; n++, pick = (pick * 1103515245 + 12345) % 2147483648) {
      const acts = possible(world);
      acts[(pick >> 8) % Math.max(1, acts.length)]?.();
      world.check();
    }
    expect(NODES.filter((n) => world.machine(n).runs.has('w1'))).toHaveLength(1);
    expect(world.incidents.get('a')?.value.phase).toBe('recovered');
  });
});
