import type { DetectionSettings } from '#contracts';

/** Stands for the monitor where a fault names the ends of a link. */
export const MONITOR = -1;

/** ms for which a connection holds what it cannot bring over: then its client takes it for dead. */
export const GIVEN_UP = 20_000;

interface Lasting {
  /** Virtual ms. */
  from: number;
  /** Infinity: for good. */
  until: number;
}

/** Who leads next: the same one again, another that has heard the reports all the time, or one that has just been started. */
export type Successor = 'same' | 'other' | 'new';

/** What goes wrong. Nodes are numbers, from 0. */
export type Fault = Lasting &
  (
    | { kind: 'death'; node: number } /** The host is off; afterwards it has booted anew. */
    | { kind: 'restart'; node: number; leaving?: 'stop' | 'reboot' } /** No agent runs; it may have said goodbye. */
    | { kind: 'pause'; node: number; host: boolean } /** It stands still; a host that does loses what is sent to it. */
    | {
        kind: 'cut';
        a: number[];
        b: number[];
        networks: string[];
        oneWay: boolean;
      } /** Datagrams and reports, a → b. */
    | {
        kind: 'unsent';
        node: number;
        to: number[];
        networks: string[];
      } /** What it sends to these does not leave it. */
    | { kind: 'lossy'; node: number; share: number } /** So much of what it sends is lost, from 0 to 1. */
    | { kind: 'stall'; node: number } /** Its reports wait, and come together. */
    | { kind: 'replay'; node: number } /** Somebody answers for it with its echoes of before. */
    | { kind: 'bus' } /** No NATS server. */
    | { kind: 'monitor-pause' }
    | { kind: 'takeover'; successor: Successor } /** No detector leads until then. */
    | { kind: 'registry' } /** The detector does not follow the registry. */
    | { kind: 'numbers'; profile: DetectionSettings['profile'] } /** From then on these are set. */
    | { kind: 'clock'; node: number; by: number } /** The wall clock jumps at `from`. */
  );
export type FaultOf<K extends Fault['kind']> = Extract<Fault, { kind: K }>;

/** One life of an agent's process. */
export interface Process extends Lasting {
  epoch: number;
  bootId: string;
  leaving: 'stop' | 'reboot' | undefined;
}

interface Pause extends Lasting {
  host: boolean;
}

interface Cut extends Lasting {
  oneWay: boolean;
  networks: readonly string[];
  /** By node, the monitor last: 1 is on side a, 2 on side b. */
  side: Uint8Array;
}

/** ms since 1970 at the virtual time 0. */
const WALL = 1_800_000_000_000;

/** Answers what is possible at which time, from the list of faults alone. */
export class World {
  private readonly byKind: Partial<Record<Fault['kind'], Fault[]>> = {};
  private readonly lives: Process[][];
  private readonly pauses: Pause[][];
  private readonly standstills: Lasting[][];
  private readonly cuts: Cut[];

  constructor(
    readonly size: number,
    readonly faults: readonly Fault[],
  ) {
    for (const fault of faults) (this.byKind[fault.kind] ??= []).push(fault);
    const nodes = Array.from({ length: size }, (_, i) => i);
    this.lives = nodes.map((node) => this.livesOf(node));
    this.pauses = nodes.map((node) => this.of('pause').filter((p) => p.node === node));
    this.standstills = this.pauses.map(joined);
    this.cuts = this.of('cut').map(({ from, until, a, b, oneWay, networks }) => {
      const side = new Uint8Array(size + 1);
      for (const [ends, is] of [
        [a, 1],
        [b, 2],
      ] as const)
        for (const node of ends) side[node === MONITOR ? size : node] = is;
      return { from, until, oneWay, networks, side };
    });
  }

  of<K extends Fault['kind']>(kind: K): readonly FaultOf<K>[] {
    return (this.byKind[kind] ?? []) as unknown as FaultOf<K>[];
  }

  /** The agent's process at t, standing still or not. */
  process(node: number, t: number): Process | undefined {
    const lives = this.lives[node] as Process[];
    for (let i = lives.length - 1; i >= 0; i--) {
      const life = lives[i] as Process;
      if (t >= life.from) return t < life.until ? life : undefined;
    }
    return undefined;
  }

  /** When the node did not run, in their order: pauses that overlap are one. */
  standstillsOf(node: number): readonly Readonly<Lasting>[] {
    return this.standstills[node] as Lasting[];
  }

  runs(node: number, t: number): boolean {
    return this.process(node, t) !== undefined && this.pauseAt(node, t) === undefined;
  }

  /** When the agent reads a datagram that arrives at t; undefined: never. */
  reads(node: number, t: number): number | undefined {
    const life = this.process(node, t);
    if (life === undefined) return undefined;
    let at = t;
    for (let pause = this.pauseAt(node, at); pause !== undefined; pause = this.pauseAt(node, at)) {
      if (pause.host) return undefined;
      at = pause.until;
    }
    return at < life.until ? at : undefined;
  }

  /** Whether what is sent at t arrives, but for loss. */
  passes(from: number, to: number, network: string, t: number): boolean {
    if (!this.sends(from, to, network, t)) return false;
    for (const cut of this.cuts) {
      if (t < cut.from || t >= cut.until || !cut.networks.includes(network)) continue;
      const a = cut.side[from === MONITOR ? this.size : from];
      const b = cut.side[to === MONITOR ? this.size : to];
      if ((a === 1 && b === 2) || (!cut.oneWay && a === 2 && b === 1)) return false;
    }
    return true;
  }

  /** Whether what it sends then leaves the node at all. */
  sends(from: number, to: number, network: string, t: number): boolean {
    for (const f of this.of('unsent'))
      if (f.node === from && t >= f.from && t < f.until && f.networks.includes(network) && f.to.includes(to))
        return false;
    return true;
  }

  /** Share of what it sends then that is lost on its way. */
  lossOf(from: number, t: number): number {
    return this.of('lossy').find((f) => f.node === from && t >= f.from && t < f.until)?.share ?? 0;
  }

  /** ms of this span in which nothing that it sent to that one there left the node. */
  unsentFor(from: number, to: number, network: string, since: number, until: number): number {
    const spans = this.of('unsent').filter((f) => f.node === from && f.networks.includes(network) && f.to.includes(to));
    return joined(spans).reduce((sum, f) => sum + Math.max(0, Math.min(f.until, until) - Math.max(f.from, since)), 0);
  }

  /** For people and for what must not depend on it. */
  wall(node: number, t: number): number {
    let wall = WALL + t;
    for (const f of this.of('clock')) if (f.node === node && t >= f.from) wall += f.by;
    return wall;
  }

  private pauseAt(node: number, t: number): Pause | undefined {
    for (const p of this.pauses[node] as Pause[]) if (t >= p.from && t < p.until) return p;
    return undefined;
  }

  private livesOf(node: number): Process[] {
    const ends = [...this.of('death'), ...this.of('restart')]
      .filter((f) => f.node === node)
      .sort((a, b) => a.from - b.from);
    const lives: Process[] = [];
    let boot = 0;
    let from = 0;
    let epoch = 0;
    const live = (until: number, leaving: Process['leaving']): void => {
      epoch = Math.max(epoch + 1, Math.floor(this.wall(node, from) / 1000));
      lives.push({ from, until, epoch, bootId: `boot-${node}-${boot}`, leaving });
    };
    for (const end of ends) {
      if (end.from > from) live(end.from, end.kind === 'restart' ? end.leaving : undefined);
      if (end.kind === 'death') boot++;
      from = Math.max(from, end.until);
    }
    if (from < Infinity) live(Infinity, undefined);
    return lives;
  }
}

function joined(spans: readonly Lasting[]): Lasting[] {
  const all: Lasting[] = [];
  for (const { from, until } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last && from <= last.until) last.until = Math.max(last.until, until);
    else all.push({ from, until });
  }
  return all;
}
