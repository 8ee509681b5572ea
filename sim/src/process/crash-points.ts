/** Where a process may die: at each call of a port, before its effect, and after its effect but before its answer. */
export interface CrashPoint {
  /** Counted over all processes of a history, from 0. */
  index: number;
  process: string;
  /** Port and method, e.g. `log.append`. */
  call: string;
  moment: 'before' | 'after';
}

/** Decides at each point whether the process dies there. */
export type CrashPlan = (point: CrashPoint) => boolean;

export const nobodyCrashes: CrashPlan = () => false;

/** At one point of all. */
export const crashAt =
  (index: number): CrashPlan =>
  (point) =>
    point.index === index;

/** Counts the points of a history, and asks its plan at each. */
export class CrashPoints {
  private count = 0;

  constructor(
    private readonly plan: CrashPlan,
    private readonly reached: (point: CrashPoint) => void = () => undefined,
  ) {}

  /** So many were reached. */
  get total(): number {
    return this.count;
  }

  /** True: the process dies here. */
  reach(process: string, call: string, moment: CrashPoint['moment']): boolean {
    const point = { index: this.count++, process, call, moment };
    this.reached(point);
    return this.plan(point);
  }
}
