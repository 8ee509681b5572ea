import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { MusterError } from '#contracts';
import { reasonOf } from './attempts.js';

/** What a round has shown. */
export interface Round {
  /** Who was starved of CPU meanwhile: then it says nothing. */
  starved?: string;
  /** What was thrown, where want of CPU may be its cause: it ends all, unless the round is void. */
  failed?: Error;
}

export interface Rounds<R> {
  done: R[];
  /** Rounds in which somebody was starved: repeated, and not among the others. */
  void: number;
}

/** One round after the other; what `prepare` and `after` do is in no figure. */
export interface Turn<P, R extends Round> {
  /** @param round from 0 on, void ones counted */
  prepare(round: number): Promise<P>;
  measure(prepared: P): Promise<R>;
  /** Resolves when all is as it was before the round. */
  after(prepared: P, shown: R): Promise<void>;
  tell(shown: R): string;
}

/** A ticker of this process that comes so late says that the machine did not let processes run, ms. */
const LATE_MS = 250;
const TICK_MS = 20;
/** Rounds are spread over so many ms: none shall always meet the same moment between two probes. */
const SPREAD_MS = 1000;

/**
 * So many rounds that count. Written into `rounds` as they happen: what fails later does not take them along.
 * COMMAND_FAILED where half as many rounds were void.
 */
export async function takeRounds<P, R extends Round>(
  turn: Turn<P, R>,
  count: number,
  rounds: Rounds<R>,
  say: (line: string) => void,
): Promise<void> {
  const late = monitorEventLoopDelay({ resolution: TICK_MS });
  late.enable();
  try {
    for (let round = 0; rounds.done.length < count; round++) {
      await pause((SPREAD_MS * (round % count)) / count);
      const prepared = await turn.prepare(round);
      const began = performance.now();
      late.reset();
      const shown = await turn.measure(prepared);
      const lateMs = late.max / 1e6;
      const starved =
        shown.starved ?? (lateMs > LATE_MS ? `the bench stood still for ${lateMs.toFixed(0)} ms` : undefined);
      if (starved !== undefined) rounds.void += 1;
      else if (shown.failed !== undefined) throw shown.failed;
      else rounds.done.push(shown);
      await turn.after(prepared, shown);
      const seconds = ((performance.now() - began) / 1000).toFixed(0);
      const verdict = starved === undefined ? `${rounds.done.length} of ${count}` : `void: ${starved}`;
      const why = shown.failed === undefined ? '' : `; ${reasonOf(shown.failed)}`;
      say(`${turn.tell(shown)}${why}; whole after ${seconds} s, late ${lateMs.toFixed(0)} ms (${verdict})`);
      if (rounds.void > Math.max(3, count / 2))
        throw new MusterError('COMMAND_FAILED', `${rounds.void} rounds were void: the machine is too busy`);
    }
  } finally {
    late.disable();
  }
}

/** What figures are taken from: `20 deaths among 5 hosts; 2 more were void`. */
export const takenFrom = (rounds: Rounds<unknown>, [one, many]: [string, string], hosts: number): string => {
  const { length } = rounds.done;
  const voided = rounds.void > 0 ? `; ${rounds.void} more were void` : '';
  return `${length} ${length === 1 ? one : many} among ${hosts} hosts${voided}`;
};
