import { takeRounds, type Round, type Rounds } from '../rounds.js';

/** One death and what followed, ms after it, each seen outside of what is measured wherever it has an outside. */
export interface Death extends Round {
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

export type Deaths = Rounds<Death>;

/** So many deaths, one after the other, each of the host that carries the work. */
export const dieInTurn = (fleet: Failover, count: number, deaths: Deaths, say: (line: string) => void): Promise<void> =>
  takeRounds(
    {
      prepare: async () => fleet.carrier(),
      measure: (victim: string) => fleet.fail(victim),
      after: (victim) => fleet.whole(victim),
      tell,
    },
    count,
    deaths,
    say,
  );

function tell({ victim, to, downMs, offSentMs, offConfirmedMs, runningMs }: Death): string {
  const steps = Object.entries({ down: downMs, off: offSentMs, proven: offConfirmedMs, running: runningMs });
  const times = steps.flatMap(([step, ms]) => (ms === undefined ? [] : `${step} ${ms.toFixed(0)}`));
  return `${victim} → ${to}: ${times.join(', ')} ms`;
}
