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
  /** Fingerprint of what it was tried on: the mutant, its file, and what guards it. Missing in older results. */
  content?: string;
  seconds: number;
}

/** A mutant of the tables, with the fingerprint of what it would be tried on now. */
export interface Listed {
  area: string;
  name: string;
  content: string;
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
  /** Those that name a simulation, tried by it alone; no area counts them. Missing in older results. */
  bySims?: Entry[];
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
  /** Killed, but what it was tried on has changed since. */
  changed: number;
  seconds: number;
  /** On which its mutants were tried; `+ changes`: not on it alone. */
  commits: string[];
}

/** What the waits of our specs say, and the limits of a test or hook; `Exceeded timeout` stands in older results. */
const TIMEOUT =
  /^(?:Error: |MusterError: )*(?:not seen in time|(?:Test|Hook) timed out|thrown: "?Exceeded timeout|Exceeded timeout|not heard)|in time$|^.{0,20}waited [\d.]+ s for/;

export const isTimeout = (e: Tried): boolean => e.killedBy !== null && e.why !== undefined && TIMEOUT.test(e.why);

const keyOf = (m: { area: string; name: string }): string => `${m.area} ${m.name}`;

/** Of each mutant of the tables what was said last: what is said of others is dropped. */
function latestOf(entries: readonly Entry[], tables: readonly Listed[]): Entry[] {
  const latest = new Map(entries.map((e) => [keyOf(e), e]));
  return tables.flatMap((m) => latest.get(keyOf(m)) ?? []);
}

/**
 * One result of several runs: what was tried later stands for what was tried before.
 * @param tried in the order in which they were tried; `bySims`: by their simulations alone
 * @param tables all mutants that there are
 */
export function resultOf(
  tried: { mutants: readonly Entry[]; bySims: readonly Entry[] },
  tables: readonly Listed[],
  run: Pick<MutantsResult, 'commit' | 'dirty' | 'date' | 'machine'>,
): MutantsResult {
  const mutants = latestOf(tried.mutants, tables);
  const areas = [...new Set(tables.map((m) => m.area))].map((area) => {
    const own = mutants.filter((e) => e.area === area);
    const listed = tables.filter((m) => m.area === area);
    return {
      area,
      tried: own.length,
      killed: own.filter((e) => e.killedBy !== null).length,
      survived: own.filter((e) => e.killedBy === null).length,
      killedByTimeout: own.filter(isTimeout).length,
      untried: listed.length - own.length,
      changed: listed.filter((m) => dueOf(m, own) === DUE.changed).length,
      seconds: secondsOf(own),
      commits: [...new Set(own.map((e) => (e.dirty ? `${e.commit} + changes` : e.commit)))],
    };
  });
  const bySims = latestOf(tried.bySims, tables);
  return { name: 'mutants', ...run, seconds: secondsOf([...mutants, ...bySims]), areas, mutants, bySims };
}

const secondsOf = (entries: readonly Entry[]): number => Math.round(entries.reduce((sum, e) => sum + e.seconds, 0));

/** What is due sooner comes first. */
const DUE = { untried: 0, alive: 1, changed: 2, not: 3 } as const;

function dueOf(m: Listed, before: readonly Entry[]): number {
  const last = before.findLast((e) => keyOf(e) === keyOf(m));
  if (last === undefined) return DUE.untried;
  if (last.killedBy === null) return DUE.alive;
  return last.content === m.content ? DUE.not : DUE.changed;
}

/**
 * Those of the chosen that are to be tried: what was never tried first, then what is alive, then what was killed on
 * another content than today's.
 */
export function restOf<T extends Listed>(chosen: readonly T[], before: readonly Entry[]): T[] {
  return chosen
    .map((m) => ({ m, due: dueOf(m, before) }))
    .filter(({ due }) => due !== DUE.not)
    .toSorted((a, b) => a.due - b.due)
    .map(({ m }) => m);
}
