import type { Bus } from '#bus';
import { MusterError, Subjects, type GateAnswer, type GateRequest, type Report } from '#contracts';
import type { Dice } from '#contracts/testing/dice.js';
import type { Chassis } from '../hands/chassis.js';
import { NS_PER_MS, type VirtualTime } from '../time/virtual-time.js';

/**
 * What a machine's system is. `hung`: it stands still, and may go on where it stood; whatever runs there holds on to what
 * it has. `dead`: as by a kernel's panic, nothing runs, and its power stays on.
 */
export type HostState = 'off' | 'booting' | 'up' | 'hung' | 'dead';

/** How a run of a workload on a host came to its end. */
export type RunEnd = 'stopped' | 'ended' | 'died' | 'off' | 'reset';

/** Told of what runs where, as it truly is. */
export interface HostWitness {
  /** @param byItself its boot did, without asking */
  started(node: string, workload: string, byItself?: boolean): void;
  ended(node: string, workload: string, how: RunEnd): void;
  /** Whatever ran there at last is over for good: the power is off, or was until now, or another boot began. */
  cleared(node: string, how: 'off' | 'reset'): void;
  /** Its system speaks, or does not any more. */
  speaks(node: string, is: boolean): void;
  /** It has refused an order as older than what it knows. */
  refusedStale(node: string): void;
}

/** What is installed of a workload: it outlives boots. */
interface Unit {
  generation: number;
  /** It is started at each boot, if its gate lets it. */
  enabled: boolean;
  /** Its gate is asked first. */
  gated: boolean;
  /** Of one without a gate: it waits for so long at a boot, ms. */
  lateMs?: number;
  /** Its manager tries it again for ever. */
  tireless?: boolean;
}

export interface OrderOutcome {
  ok: boolean;
  reason: string;
  /** Refused as older than this generation. */
  seen?: number;
}

const NO_SPACE: OrderOutcome = { ok: false, reason: 'No space left on device' };

export interface PlayedHostParts {
  node: string;
  time: VirtualTime;
  dice: Dice;
  chassis: Chassis;
  /** Of all agents. */
  bus: Bus;
  witness: HostWitness;
  tell: (line: string) => void;
}

/** Between two reports, ms. */
const REPORT_MS = 1_000;
/** What a report says of workloads was looked at within this, ms. */
const LOOK_MS = 3_000;
/** The start gate gives up after this, ms. */
const GATE_LIMIT_MS = 2_000;
/** A unit whose gate refused it is tried so often by its manager, a second apart. */
const STARTS = 5;

/** A node: a system on a chassis, its agent with the start gate, and the units of workloads. */
export class PlayedHost {
  state: HostState = 'up';
  /** Nobody hears it and it hears nobody, while all of it goes on. */
  private isCut = false;
  private boot = 1;
  private agentStarts = 1;
  private seq = 0;
  private readonly units = new Map<string, Unit>();
  private readonly running = new Set<string>();
  private readonly starting = new Set<string>();
  /** What an order holds while it is carried out. */
  private readonly locks = new Map<string, (() => void)[]>();
  /** The first order about a workload that it was ever given. */
  private oldest: (() => Promise<OrderOutcome>) | undefined;
  private look: { at: number; workloads: NonNullable<Report['workloads']> } | undefined;
  /** Was due while it stood still. */
  private frozen: (() => void)[] = [];
  /** What it is set up from, and what there is instead. */
  drifted = false;
  /** Since its system began to boot last. */
  bootSinceMs = 0;
  /** An order is written down before it is carried out. */
  private isFull = false;

  constructor(private readonly p: PlayedHostParts) {
    this.every(REPORT_MS, () => this.report());
  }

  get name(): string {
    return this.p.node;
  }

  get bootId(): string {
    return `boot-${this.p.node}-${this.boot}`;
  }

  /** Others hear it. */
  get speaks(): boolean {
    return this.state === 'up' && !this.isCut;
  }

  /** Its kernel answers, and nothing above it does. */
  get isHung(): boolean {
    return this.state === 'hung' && !this.isCut;
  }

  /** Its boot starts something without asking. */
  get startsUngated(): boolean {
    return [...this.units.values()].some((u) => u.enabled && !u.gated);
  }

  get runs(): readonly string[] {
    return [...this.running];
  }

  /**
   * It runs there before the history begins.
   * @param o.lateMs somebody else's unit, which nobody has put a gate before, and which a boot starts so late; undefined: ours
   */
  seed(workload: string, generation: number, o: { lateMs?: number | undefined; tireless?: boolean } = {}): void {
    const { lateMs, tireless = false } = o;
    const gated = lateMs === undefined;
    this.units.set(workload, { generation, enabled: true, gated, tireless, ...(!gated && { lateMs }) });
    if (gated) this.oldest ??= () => this.start(workload, generation);
    this.begin(workload);
  }

  die(): void {
    if (this.state !== 'up' && this.state !== 'hung') return;
    this.endAll('died');
    this.turn('dead');
  }

  hang(): void {
    if (this.state === 'up') this.turn('hung');
  }

  /** It goes on where it stood. */
  thaw(): void {
    if (this.state !== 'hung') return;
    this.turn('up');
    for (const act of this.frozen.splice(0)) act();
  }

  cut(): void {
    this.isCut = true;
    this.heard();
  }

  heal(): void {
    this.isCut = false;
    this.heard();
  }

  /** A person, or a watchdog, resets it. */
  reset(): void {
    if (!this.p.chassis.on) return;
    this.endAll('reset');
    this.p.witness.cleared(this.name, 'reset');
    this.comeUp();
  }

  /** Its chassis was switched. */
  powered(on: boolean): void {
    if (!on) {
      this.endAll('off');
      this.turn('off');
    }
    this.p.witness.cleared(this.name, 'off');
    if (on) this.comeUp();
  }

  /** A workload ends by itself. */
  fail(workload: string): void {
    if (this.state === 'up' && this.running.has(workload)) this.end(workload, 'ended');
  }

  /** A person runs once more, with the variables of then, the first playbook that ordered a workload here. */
  orderAgain(): void {
    if (this.speaks) void this.oldest?.();
  }

  /** Its disk, for good. */
  fill(): void {
    this.isFull = true;
  }

  /** As the playbook has it done: under the workload's lock, by its generation, past the gate. */
  async start(workload: string, generation: number): Promise<OrderOutcome> {
    this.oldest ??= () => this.start(workload, generation);
    const free = await this.locked(workload);
    try {
      const stale = this.staleBy(workload, generation);
      if (stale !== undefined) return stale;
      await this.step(30);
      const gate = await this.askGate(workload, generation);
      if (!gate.allowed || gate.generation !== generation)
        return { ok: false, reason: `GATE: ${gate.reason || 'another generation is current'}` };
      if (this.isFull) return NO_SPACE;
      this.units.set(workload, { generation, enabled: true, gated: true });
      this.starting.add(workload);
      await this.step(20 + this.p.dice.roll() * 150);
      this.starting.delete(workload);
      this.begin(workload);
      return { ok: true, reason: '' };
    } finally {
      free();
    }
  }

  async stop(workload: string, generation: number): Promise<OrderOutcome> {
    this.oldest ??= () => this.stop(workload, generation);
    const free = await this.locked(workload);
    try {
      const stale = this.staleBy(workload, generation);
      if (stale !== undefined) return stale;
      if (this.isFull) return NO_SPACE;
      this.units.set(workload, { gated: true, ...this.units.get(workload), generation, enabled: false });
      await this.step(20 + this.p.dice.roll() * 500);
      this.starting.delete(workload);
      if (this.running.has(workload)) this.end(workload, 'stopped');
      return { ok: true, reason: '' };
    } finally {
      free();
    }
  }

  /** All that was set up is taken away. Somebody else's unit stays. */
  cleanUp(): void {
    for (const [workload, { gated }] of [...this.units]) {
      if (!gated) continue;
      if (this.running.has(workload)) this.end(workload, 'stopped');
      this.starting.delete(workload);
      this.units.delete(workload);
    }
  }

  private staleBy(workload: string, generation: number): OrderOutcome | undefined {
    const known = this.units.get(workload);
    if (known === undefined || known.generation <= generation) return undefined;
    this.p.witness.refusedStale(this.name);
    return {
      ok: false,
      reason: `STALE: generation ${generation} is older than ${known.generation}`,
      seen: known.generation,
    };
  }

  private begin(workload: string, byItself = false): void {
    if (this.running.has(workload)) return;
    this.running.add(workload);
    this.look = undefined;
    this.p.tell(`${this.name} runs ${workload}`);
    this.p.witness.started(this.name, workload, byItself);
  }

  private end(workload: string, how: RunEnd): void {
    this.running.delete(workload);
    this.look = undefined;
    this.p.tell(`${workload} is over on ${this.name}: ${how}`);
    this.p.witness.ended(this.name, workload, how);
  }

  private endAll(how: RunEnd): void {
    for (const workload of [...this.running]) this.end(workload, how);
    this.starting.clear();
    this.frozen = [];
    this.look = undefined;
  }

  private turn(state: HostState): void {
    this.state = state;
    this.p.tell(`${this.name} is ${state}`);
    this.heard();
  }

  private heard(): void {
    this.p.witness.speaks(this.name, this.speaks);
  }

  private comeUp(): void {
    this.boot++;
    // Of orders of the boot before, and of one that reached it just as it went off.
    this.locks.clear();
    const { boot } = this;
    this.bootSinceMs = this.p.time.nowMs;
    this.turn('booting');
    this.later(3_000 + this.p.dice.roll() * 9_000, () => {
      if (boot !== this.boot || this.state !== 'booting') return;
      this.agentStarts++;
      this.seq = 0;
      this.turn('up');
      for (const [workload, unit] of this.units)
        if (unit.enabled && unit.gated) void this.autostart(workload, unit);
        else if (unit.enabled) void this.startUnasked(workload, unit);
    });
  }

  /** Its unit has no gate before it. Who starts, stops or cleans it up meanwhile has put another unit there. */
  private async startUnasked(workload: string, unit: Unit): Promise<void> {
    if (unit.lateMs !== undefined && unit.lateMs > 0) await this.step(unit.lateMs);
    if (this.units.get(workload) === unit) this.begin(workload, true);
  }

  /**
   * Its unit has the gate before it, for the generation that it was made for. Between two tries systemd shows it as
   * activating as well.
   */
  private async autostart(workload: string, { generation, tireless = false }: Unit): Promise<void> {
    // Who stops it, or cleans it up, ends the unit that waits at its gate.
    const isWanted = (): boolean => {
      const unit = this.units.get(workload);
      return unit?.enabled === true && unit.generation === generation && !this.running.has(workload);
    };
    for (let n = 0; tireless || n < STARTS; n++) {
      await this.step(500 + this.p.dice.roll() * 1_000);
      if (!isWanted()) break;
      this.starting.add(workload);
      const gate = await this.askGate(workload, generation);
      await this.step(5);
      if (!isWanted()) break;
      if (!gate.allowed || gate.generation !== generation) continue;
      this.starting.delete(workload);
      return this.begin(workload);
    }
    this.starting.delete(workload);
  }

  /** Fails closed. */
  private async askGate(workload: string, generation: number): Promise<GateAnswer> {
    const no = (reason: string): GateAnswer => ({ allowed: false, reason });
    if (this.isCut) {
      await this.step(GATE_LIMIT_MS);
      return no('no answer in time');
    }
    const request: GateRequest = { workload, bootId: this.bootId, generation };
    let answer: GateAnswer;
    try {
      answer = await this.p.bus.ask<GateAnswer>(Subjects.gate(this.name), request, { timeoutMs: GATE_LIMIT_MS });
    } catch (e) {
      answer = no(MusterError.from(e).message);
    }
    // Its system may have stood still, or ended, since it asked.
    await this.step(1);
    return answer;
  }

  /** Resolves with the way to let go, when nobody else holds it. */
  private async locked(workload: string): Promise<() => void> {
    const { locks } = this;
    const waiting = locks.get(workload);
    if (waiting === undefined) locks.set(workload, []);
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return () => {
      const next = locks.get(workload)?.shift();
      if (next === undefined) locks.delete(workload);
      else next();
    };
  }

  /** Work of so many ms of this boot: it never ends where the boot does, and later where its system stands still. */
  private step(ms: number): Promise<void> {
    const { boot } = this;
    return new Promise((resolve) => {
      const act = (): void => {
        if (boot !== this.boot || this.state === 'dead' || this.state === 'off') return;
        if (this.state === 'hung') this.frozen.push(act);
        else resolve();
      };
      this.later(ms, act);
    });
  }

  private report(): void {
    if (!this.speaks) return;
    const now = this.p.time.nowMs;
    if (this.look === undefined || now - this.look.at >= LOOK_MS) this.look = { at: now, workloads: this.listed() };
    const report: Report = {
      v: 1,
      node: this.name,
      bootId: this.bootId,
      epoch: this.agentStarts,
      seq: ++this.seq,
      listVersion: 1,
      networks: ['backend', 'management'],
      peers: [],
      health: { abstain: false, sendErrors: {}, loopGapMs: 0 },
      workloads: this.look.workloads,
    };
    this.p.bus.publish(Subjects.report(this.name), report);
  }

  private listed(): NonNullable<Report['workloads']> {
    const run = (name: string): NonNullable<Report['workloads']>[number] => {
      const { generation = 0, gated = false } = this.units.get(name) ?? {};
      return { name, generation, gated };
    };
    return [
      ...[...this.running].map(run),
      ...[...this.starting].map((name) => ({ ...run(name), starting: true as const })),
    ];
  }

  private every(ms: number, fn: () => void): void {
    const again = (): void => {
      fn();
      this.later(ms, again);
    };
    this.later(this.p.dice.roll() * ms, again);
  }

  private later(ms: number, fn: () => void): void {
    this.p.time.schedule(ms * NS_PER_MS, this.name, fn);
  }
}
