/** A mutant that was tried: by what it was found, or why by nothing. */
export interface Tried {
  area: string;
  name: string;
  /** Null: it is alive. */
  killedBy: string | null;
  /** The first line of the failure that found it. */
  why?: string;
  /** Of a simulation: it took so many. */
  histories?: number;
  /** Why nothing found it. */
  reason?: string;
}

/** The same, with what it was tried on. */
export interface Entry extends Tried {
  commit: string;
  /** With changes on top of the commit, other than results. */
  dirty: boolean;
  seconds: number;
}

/** What a file says that `--out` writes. */
export interface MutantsResult {
  name: 'mutants';
  /** Commit, date and machine are those of the latest run; each mutant says on which commit it was tried. */
  commit: string;
  dirty: boolean;
  date: string;
  machine: unknown;
  /** Of all that it holds. */
  seconds: number;
  areas: AreaResult[];
  mutants: Entry[];
}

export interface AreaResult {
  area: string;
  tried: number;
  killed: number;
  survived: number;
  /** Killed, but only because a wait came to its limit: on a busy machine that may be the machine's own doing. */
  killedByTimeout: number;
  /** In the tables, and not tried yet. */
  untried: number;
  seconds: number;
  /** On which its mutants were tried; `+ changes`: not on it alone. */
  commits: string[];
}

/** What the waits of our specs say, and the limits of a test or hook; `Exceeded timeout` stands in older results. */
const TIMEOUT =
  /^(?:Error: |MusterError: )*(?:not seen in time|(?:Test|Hook) timed out|thrown: "?Exceeded timeout|Exceeded timeout|not heard)|in time$|^.{0,20}waited [\d.]+ s for/;

export const isTimeout = (e: Tried): boolean => e.killedBy !== null && e.why !== undefined && TIMEOUT.test(e.why);

const keyOf = (m: { area: string; name: string }): string => `${m.area} ${m.name}`;

/**
 * One result of several runs: what was tried later stands for what was tried before.
 * @param entries in the order in which they were tried
 * @param tables all mutants that there are: what is said of others is dropped
 */
export function resultOf(
  entries: readonly Entry[],
  tables: readonly { area: string; name: string }[],
  run: Pick<MutantsResult, 'commit' | 'dirty' | 'date' | 'machine'>,
): MutantsResult {
  const latest = new Map(entries.map((e) => [keyOf(e), e]));
  const mutants = tables.flatMap((m) => latest.get(keyOf(m)) ?? []);
  const areas = [...new Set(tables.map((m) => m.area))].map((area) => {
    const own = mutants.filter((e) => e.area === area);
    return {
      area,
      tried: own.length,
      killed: own.filter((e) => e.killedBy !== null).length,
      survived: own.filter((e) => e.killedBy === null).length,
      killedByTimeout: own.filter(isTimeout).length,
      untried: tables.filter((m) => m.area === area).length - own.length,
      seconds: secondsOf(own),
      commits: [...new Set(own.map((e) => (e.dirty ? `${e.commit} + changes` : e.commit)))],
    };
  });
  return { name: 'mutants', ...run, seconds: secondsOf(mutants), areas, mutants };
}

const secondsOf = (entries: readonly Entry[]): number => Math.round(entries.reduce((sum, e) => sum + e.seconds, 0));

/** Those of the chosen that an earlier run has not found killed. */
export function restOf<T extends { area: string; name: string }>(chosen: readonly T[], before: readonly Entry[]): T[] {
  const killed = new Set(before.filter((e) => e.killedBy !== null).map(keyOf));
  return chosen.filter((m) => !killed.has(keyOf(m)));
}
