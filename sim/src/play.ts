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
  /** A fault that is known and not mended: these rules are broken in it. Absent: none may be. */
  knownRed?: string[];
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
  violations: FoundViolation[];
  /** How often each thing that a rule is about was met. */
  probes: Record<string, number>;
  hash: string;
}

export interface SeriesOptions {
  /** Of random histories: the index of the first. @default 0 */
  from?: number;
  /** Of crash points of a sweep: each so manieth. @default 1 */
  every?: number;
  progress?: (done: number, of: number, violations: number) => void;
}

/** Told of each history in turn. */
export class Tally {
  private readonly violations: FoundViolation[] = [];
  private readonly probes = new Map<string, number>();
  private readonly hashed = new EventHash();
  private count = 0;

  add(index: number, result: PlayResult): void {
    this.count++;
    this.violations.push(...result.violations.map((v) => ({ history: index, ...v })));
    for (const [name, times] of result.probes) this.probes.set(name, (this.probes.get(name) ?? 0) + times);
    this.hashed.add(result.hash, index);
  }

  get found(): number {
    return this.violations.length;
  }

  summary(seed: number): PlaySummary {
    const probes = Object.fromEntries([...this.probes].sort(([a], [b]) => a.localeCompare(b)));
    return { histories: this.count, seed, violations: this.violations, probes, hash: this.hashed.digest };
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

  /** Random histories of one seed. */
  async random(histories: number, seed: number, o: SeriesOptions = {}): Promise<PlaySummary> {
    const tally = new Tally();
    const from = o.from ?? 0;
    for (let index = from; index < from + histories; index++) {
      tally.add(index, await this.one(this.play.draw(seed, index)));
      o.progress?.(index + 1 - from, histories, tally.found);
    }
    return tally.summary(seed);
  }

  /** A named history as it is, then with a crash at each of its points in turn. */
  async sweep(named: N, o: SeriesOptions = {}): Promise<PlaySummary> {
    const tally = new Tally();
    const plain = await this.oneNamed(named);
    tally.add(-1, plain);
    const every = o.every ?? 1;
    for (let index = 0; index < plain.crashPoints; index += every) {
      tally.add(index, await this.oneNamed(named, { plan: crashAt(index) }));
      o.progress?.(index + 1, plain.crashPoints, tally.found);
    }
    return tally.summary(named.history.seed);
  }
}
