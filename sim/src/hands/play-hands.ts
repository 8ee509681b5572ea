import { EventHash } from '../time/event-hash.js';
import { RealHandles } from '../time/real-handles.js';
import { crashAt } from '../process/crash-points.js';
import { drawHands, type HandsHistory } from './hands-history.js';
import type { HandsViolation } from './hands-oracle.js';
import { HandsWorld, type HandsOptions, type HandsResult } from './hands-world.js';
import type { NamedHistory } from './named-histories.js';

export interface FoundHandsViolation extends HandsViolation {
  /** Index of the random history, or of the crash point in a sweep: to be replayed. */
  history: number;
}

export interface HandsSummary {
  histories: number;
  seed: number;
  violations: FoundHandsViolation[];
  /** How often each thing that a rule is about was met. */
  probes: Record<string, number>;
  hash: string;
}

export interface PlayOptions {
  /** Of random histories, or of crash points of a sweep: each so manieth. @default 1 */
  every?: number;
  progress?: (done: number, of: number, violations: number) => void;
}

/** Told of each history in turn. */
export class Tally {
  private readonly violations: FoundHandsViolation[] = [];
  private readonly probes = new Map<string, number>();
  private readonly hashed = new EventHash();
  private count = 0;

  add(index: number, result: HandsResult): void {
    this.count++;
    this.violations.push(...result.violations.map((v) => ({ history: index, ...v })));
    for (const [name, times] of result.probes) this.probes.set(name, (this.probes.get(name) ?? 0) + times);
    this.hashed.add(result.hash, index);
  }

  get found(): number {
    return this.violations.length;
  }

  summary(seed: number): HandsSummary {
    const probes = Object.fromEntries([...this.probes].sort(([a], [b]) => a.localeCompare(b)));
    return { histories: this.count, seed, violations: this.violations, probes, hash: this.hashed.digest };
  }
}

/** Rejects where it leaves anything of the real world behind. */
export async function playHistory(history: HandsHistory, o: HandsOptions = {}): Promise<HandsResult> {
  const handles = new RealHandles();
  const world = new HandsWorld(history, o);
  // Of a service it would be the end.
  const unhandled = (e: unknown): void =>
    world.oracle.violate('failed', `nobody handles: ${e instanceof Error ? e.message : String(e)}`);
  process.on('unhandledRejection', unhandled);
  try {
    const result = await world.run();
    handles.assertNone(history.name);
    return result;
  } finally {
    process.off('unhandledRejection', unhandled);
  }
}

/** Random histories of one seed. */
export async function playRandom(histories: number, seed: number, o: PlayOptions = {}): Promise<HandsSummary> {
  const tally = new Tally();
  for (let index = 0; index < histories; index++) {
    tally.add(index, await playHistory(drawHands(seed, index)));
    o.progress?.(index + 1, histories, tally.found);
  }
  return tally.summary(seed);
}

/** A named history as it is, then with a crash at each of its points in turn. */
export async function sweep({ history, bounds }: NamedHistory, o: PlayOptions = {}): Promise<HandsSummary> {
  const tally = new Tally();
  const plain = await playHistory(history, { ...(bounds && { bounds }) });
  tally.add(-1, plain);
  const every = o.every ?? 1;
  for (let index = 0; index < plain.crashPoints; index += every) {
    tally.add(index, await playHistory(history, { plan: crashAt(index), ...(bounds && { bounds }) }));
    o.progress?.(index + 1, plain.crashPoints, tally.found);
  }
  return tally.summary(history.seed);
}
