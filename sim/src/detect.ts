import { silenceTimeout, DetectionProfiles } from '#contracts';
import { drawHistory, type History } from './history.js';
import type { Violation } from './oracle.js';
import { SimulatedFleet } from './simulated-fleet.js';

export interface FoundViolation extends Violation {
  /** Index of the history, to be replayed. */
  history: number;
  seed: number;
}

/** Shares of the histories in which at least once … */
export interface Coverage {
  /** … a node was called DOWN; */
  down: number;
  /** … a verdict was UNKNOWN; */
  unknown: number;
  /** … too few members reported for the monitor to judge at all; */
  withoutQuorum: number;
  /** … the fleet was in two parts for longer than the silence timeout. */
  split: number;
}

export interface DetectResult {
  histories: number;
  seed: number;
  violations: FoundViolation[];
  coverage: Coverage;
  /** DOWN that was said by the majority of those who were polled, beyond `SMALL_FLEET` nodes. */
  pollDecisions: number;
}

export interface DetectOptions {
  histories: number;
  seed: number;
  /** Nodes in a fleet; large ones only are played in short histories of `lan` and `fast`. @default 2 to 12, and now and then 33 to 40 */
  sizes?: { least: number; most: number };
  progress?: (done: number, violations: number) => void;
}

const isSplit = (h: History): boolean =>
  h.faults.some(
    (f) =>
      f.kind === 'cut' &&
      !f.oneWay &&
      f.networks.length === h.networks.length &&
      f.until - f.from > silenceTimeout(DetectionProfiles[h.profile]) &&
      new Set([...f.a, ...f.b].filter((n) => n >= 0)).size === h.roles.length,
  );

/** Random histories, each judged by the oracle. */
export function simulateDetection({ histories, seed, sizes, progress }: DetectOptions): DetectResult {
  const violations: FoundViolation[] = [];
  const count: Coverage = { down: 0, unknown: 0, withoutQuorum: 0, split: 0 };
  let pollDecisions = 0;
  for (let index = 0; index < histories; index++) {
    const history = drawHistory(seed, index, sizes);
    const fleet = new SimulatedFleet(history).run();
    violations.push(...fleet.violations.map((v) => ({ history: index, seed, ...v })));
    for (const kind of ['down', 'unknown', 'withoutQuorum'] as const) if (fleet.oracle.seen[kind]) count[kind]++;
    if (isSplit(history)) count.split++;
    pollDecisions += fleet.verdicts.filter((v) => v.verdict === 'DOWN' && v.polled > 0).length;
    progress?.(index + 1, violations.length);
  }
  const share = (n: number): number => Number((n / histories).toFixed(4));
  return {
    histories,
    seed,
    violations,
    coverage: {
      down: share(count.down),
      unknown: share(count.unknown),
      withoutQuorum: share(count.withoutQuorum),
      split: share(count.split),
    },
    pollDecisions,
  };
}
