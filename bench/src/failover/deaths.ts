import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { MusterError } from '#contracts';

/** One death and what followed, ms after it, each seen outside of what is measured wherever it has an outside. */
export interface Death {
  victim: string;
  /** Where the work runs since. */
  to: string;
  /** Absent: nobody publishes a verdict. */
  downMs?: number;
  offSentMs: number;
  /** Absent: power was not read twice. */
  offConfirmedMs?: number;
  runningMs: number;
  /** Processor time of the processes that decide, until it ran again, as a share of one core. */
  cpu?: number;
  /** Who was starved of CPU meanwhile. */
  starved?: string;
}

/** Hosts of which one carries the work, and something that starts it elsewhere when that one dies. */
export interface Failover {
  /** The host that carries the work now. */
  carrier(): string;
  /** Kills the host; resolves when its work runs elsewhere. */
  fail(victim: string): Promise<Death>;
  /** Resolves when the dead host is back, every host is as it was, and nothing is under way. */
  whole(victim: string): Promise<void>;
}

export interface Deaths {
  done: Death[];
  /** Rounds in which somebody was starved: repeated, and not among the others. */
  void: number;
}

/** A ticker of this process that comes so late says that the machine did not let processes run, ms. */
const LATE_MS = 250;
const TICK_MS = 20;
/** Deaths are spread over so many ms: none shall always meet the same moment between two probes. */
const SPREAD_MS = 1000;

/**
 * So many deaths, one after the other, each of the host that carries the work. Written into `deaths` as they happen: what
 * fails later does not take them along. COMMAND_FAILED where half as many rounds were void.
 */
export async function dieInTurn(
  fleet: Failover,
  count: number,
  deaths: Deaths,
  say: (line: string) => void,
): Promise<void> {
  const late = monitorEventLoopDelay({ resolution: TICK_MS });
  late.enable();
  try {
    for (let round = 0; deaths.done.length < count; round++) {
      await pause((SPREAD_MS * (round % count)) / count);
      const victim = fleet.carrier();
      const began = performance.now();
      late.reset();
      const death = await fleet.fail(victim);
      const lateMs = late.max / 1e6;
      const starved =
        death.starved ?? (lateMs > LATE_MS ? `the bench stood still for ${lateMs.toFixed(0)} ms` : undefined);
      if (starved === undefined) deaths.done.push(death);
      else deaths.void += 1;
      await fleet.whole(victim);
      const seconds = ((performance.now() - began) / 1000).toFixed(0);
      const verdict = starved === undefined ? `${deaths.done.length} of ${count}` : `void: ${starved}`;
      say(`${tell(death)}; whole after ${seconds} s, late ${lateMs.toFixed(0)} ms (${verdict})`);
      if (deaths.void > Math.max(3, count / 2))
        throw new MusterError('COMMAND_FAILED', `${deaths.void} rounds were void: the machine is too busy`);
    }
  } finally {
    late.disable();
  }
}

function tell({ victim, to, downMs, offSentMs, offConfirmedMs, runningMs }: Death): string {
  const steps = Object.entries({ down: downMs, off: offSentMs, proven: offConfirmedMs, running: runningMs });
  const times = steps.flatMap(([step, ms]) => (ms === undefined ? [] : `${step} ${ms.toFixed(0)}`));
  return `${victim} → ${to}: ${times.join(', ')} ms`;
}
