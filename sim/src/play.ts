import { crashAt, type CrashPlan, type CrashPoint } from './process/crash-points.js';
import { EventHash } from './time/event-hash.js';
import { RealHandles } from './time/real-handles.js';

/** A rule that was broken. */
export interface Violation {
  /** ms of virtual time. */
  time: number;
  rule: string;
  what: string;
}

export interface PlayResult {
  history: string;
  violations: readonly Violation[];
  probes: ReadonlyMap<string, number>;
  /** Of every event: the same history gives the same. */
  hash: string;
  /** Port calls at which a process could have died, each twice. */
  crashPoints: number;
  events: number;
  /** How long it took in its own time. */
  virtualMs: number;
}

export interface PlayOptions {
  plan?: CrashPlan;
  /** Each thing that happens, for the story of one history. */
  told?: (ms: number, line: string) => void;
  reached?: (point: CrashPoint) => void;
}

/** What a history is played in: once. */
export interface PlayWorld {
  /** A program has ended by an error of its own. */
  failed(what: string): void;
  run(): Promise<PlayResult>;
}

/** A history with a name, to be swept: played again with a crash at each point in turn. */
export interface Named<History> {
  history: History;
  /** What it shows, in a sentence. */
  shows: string;
}

/** What one simulation is made of. */
export interface Play<History extends { name: string; seed: number }, N extends Named<History> = Named<History>> {
  /** A random history. The same seed and index give the same one. */
  draw(seed: number, index: number): History;
  named: Readonly<Record<string, N>>;
  world(history: History, o: PlayOptions, named?: N): PlayWorld;
  /** Every rule, in words. */
  rules: Readonly<Record<string, string>>;
  /** Seed of the first of the named; the others count on from it. */
  namedSeed: number;
  /** A rule that never met its case says nothing: what random histories have to meet, at least, and in how many. */
  least: { histories: number; probes: Readonly<Record<string, number>> };
}

export interface FoundViolation extends Violation {
  /** Index of the random history, or of the crash point in a sweep: to be replayed. */
  history: number;
}

export interface PlaySummary {
  histories: number;
  seed: number;
  /** Of the times that the histories took in their own time; of several series together it says nothing. */
  medianVirtualMs?: number;
  violations: FoundViolation[];
  /** How often each thing that a rule is about was met. */
  probes: Record<string, number>;
  hash: string;
}

/** Plays histories of one series by their indices, and hands over what came of them in the order in which they were asked for. */
export type PlayIndices = (indices: readonly number[]) => AsyncIterable<PlayResult>;

export interface SeriesOptions {
  /** @default in this process, one after the other */
  play?: PlayIndices;
  /** Index of the first history, or crash point. @default 0 */
  from?: number;
  /** Of crash points of a sweep: each so manieth. @default 1 */
  every?: number;
  progress?: (done: number, of: number, violations: number) => void;
  /** Called for each violation when its history is over: a series takes hours. */
  found?: (violation: FoundViolation) => void;
}

/** Told of each history in turn. */
export class Tally {
  private readonly violations: FoundViolation[] = [];
  private readonly probes = new Map<string, number>();
  private readonly hashed = new EventHash();
  private readonly virtualMs: number[] = [];

  /** @returns what broke a rule in it */
  add(index: number, result: PlayResult): FoundViolation[] {
    const found = result.violations.map((v) => ({ history: index, ...v }));
    this.virtualMs.push(result.virtualMs);
    this.violations.push(...found);
    for (const [name, times] of result.probes) this.probes.set(name, (this.probes.get(name) ?? 0) + times);
    this.hashed.add(result.hash, index);
    return found;
  }

  get found(): number {
    return this.violations.length;
  }

  summary(seed: number): PlaySummary {
    const probes = Object.fromEntries([...this.probes].sort(([a], [b]) => a.localeCompare(b)));
    const { violations, virtualMs } = this;
    const medianVirtualMs = Math.round(virtualMs.toSorted((a, b) => a - b)[virtualMs.length >> 1] ?? 0);
    return { histories: virtualMs.length, seed, medianVirtualMs, violations, probes, hash: this.hashed.digest };
  }
}

/** Plays histories of one simulation. */
export class Player<History extends { name: string; seed: number }, N extends Named<History> = Named<History>> {
  constructor(readonly play: Play<History, N>) {}

  /** Rejects where it leaves anything of the real world behind. */
  async one(history: History, o: PlayOptions = {}, named?: N): Promise<PlayResult> {
    const handles = new RealHandles();
    const world = this.play.world(history, o, named);
    // Of a service it would be the end.
    const unhandled = (e: unknown): void =>
      world.failed(`nobody handles: ${e instanceof Error ? (e.stack ?? e.message) : String(e)}`);
    process.on('unhandledRejection', unhandled);
    try {
      const result = await world.run();
      handles.assertNone(history.name);
      return result;
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  }

  /** A named history as it is. */
  oneNamed(named: N, o: PlayOptions = {}): Promise<PlayResult> {
    return this.one(named.history, o, named);
  }

  /** The random history of a seed. */
  oneRandom(seed: number, index: number): Promise<PlayResult> {
    return this.one(this.play.draw(seed, index));
  }

  /** A named history with a crash at one of its points. */
  oneCrashed(named: N, index: number): Promise<PlayResult> {
    return this.oneNamed(named, { plan: crashAt(index) });
  }

  /** Random histories of one seed. */
  async random(histories: number, seed: number, o: SeriesOptions = {}): Promise<PlaySummary> {
    const from = o.from ?? 0;
    const indices = Array.from({ length: histories }, (_, i) => from + i);
    const tally = new Tally();
    await this.series(tally, indices, o, (index) => this.oneRandom(seed, index));
    return tally.summary(seed);
  }

  /** A named history as it is, then with a crash at each of its points in turn. */
  async sweep(named: N, o: SeriesOptions = {}): Promise<PlaySummary> {
    const plain = await this.oneNamed(named);
    const { every = 1, from = 0 } = o;
    const length = Math.max(0, Math.ceil((plain.crashPoints - from) / every));
    const indices = Array.from({ length }, (_, i) => from + i * every);
    const tally = new Tally();
    tally.add(-1, plain);
    await this.series(tally, indices, o, (index) => this.oneCrashed(named, index));
    return tally.summary(named.history.seed);
  }

  private async series(
    tally: Tally,
    indices: readonly number[],
    o: SeriesOptions,
    one: (index: number) => Promise<PlayResult>,
  ): Promise<void> {
    const play = o.play ?? ((all) => inTurn(all, one));
    let done = 0;
    for await (const result of play(indices)) {
      for (const violation of tally.add(indices[done] as number, result)) o.found?.(violation);
      o.progress?.(++done, indices.length, tally.found);
    }
  }
}

async function* inTurn(
  indices: readonly number[],
  one: (index: number) => Promise<PlayResult>,
): AsyncGenerator<PlayResult> {
  for (const index of indices) yield await one(index);
}
