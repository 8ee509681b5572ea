import type { Leaving } from '#contracts';
import type { Vote } from '../observers/stance.js';

/** Everything that a judgement of one node rests on; gathered by the caller, without a clock. */
export interface TargetFacts {
  node: string;
  /** Names of its networks. */
  networks: readonly string[];
  /** Those of them that are out: most of the members cannot send to anybody there, and nobody hears the node there. */
  out: readonly string[];
  /** M: enrolled, not cordoned, not confirmed off. */
  members: number;
  /** Fresh healthy reporters among the members, and the same without the target. */
  reporters: number;
  otherReporters: number;
  /** One vote per observer by the plan, also of the absent. */
  votes: readonly Vote[];
  /**
   * Beyond {@link SMALL_FLEET} nodes: one vote per observer that was polled, also of those who did not answer. Empty
   * before the poll. Absent: everybody watches everybody, and nobody is polled.
   */
  polled?: readonly Vote[];
  /** ms since its own last report; since we began to listen where there was none. */
  ownSilenceMs: number;
  /** Its last report is fresh, and speaks for it alone. */
  ownFresh: boolean;
  /** Two machines report, or speak to others, under its name. */
  conflict: boolean;
  /** Where its last process said that it leaves: how long ago, ms. */
  leftMs?: number;
  /** Why, where that is known. */
  left?: Leaving['kind'];
  /** The monitor's own datagrams: `echo` while one was answered lately, `silent` once one was not, else not known. */
  ownProbe: 'echo' | 'silent' | 'unknown';
  /** With two members: the monitor reaches its witness. */
  witness: boolean;
  /** Where that is, `host:port`; '': none is set. */
  witnessAt: string;
  freshness: number;
  /** The silence timeout, ms. */
  silenceTimeoutMs: number;
  /** As of when this was gathered, monotonic ms: how long something lasts is counted by it. */
  now: number;
}

/** What the votes say. */
export interface Tally {
  /** Too few report at all: nobody is judged. */
  withoutQuorum: boolean;
  /** Enough others report to call its silence a death. */
  sighted: boolean;
  suspect: boolean;
  down: boolean;
  /** Observers whose majority must report it down, those by the plan or those that were polled, and how many of them do. */
  assigned: number;
  accusers: number;
  /** Observers, by the plan or polled, that hear it. */
  hears: number;
  /** Networks on which most observers miss it, and those that are out. */
  silentNetworks: string[];
  /** Networks that are not out, on which most of those who speak of it there, or all, had their last probe answered. */
  mostAnswered: string[];
  allAnswered: string[];
}

const majority = (members: number): number => Math.floor(members / 2) + 1;

/** Reporters without whom everything is UNKNOWN. With two members one is enough to be heard, not to call the other dead. */
const reportersNeeded = (members: number): number => (members === 0 ? 0 : members === 2 ? 1 : majority(members));

/** Too few of the members report to judge anybody. */
export const lacksQuorum = (reporters: number, members: number): boolean => reporters < reportersNeeded(members);

const isMost = (count: number, assigned: number): boolean => count > assigned / 2;
const counted = (votes: readonly Vote[], is: (v: Vote) => boolean): number => {
  let count = 0;
  for (const v of votes) if (is(v)) count++;
  return count;
};
const accusersIn = (votes: readonly Vote[]): number => counted(votes, (v) => v.stance === 'accuses');
const hears = (v: Vote): boolean => v.stance === 'hears';

/** Distinct observers: one by the plan may have been drawn as well. */
function hearersIn(f: TargetFacts): number {
  if (!f.polled || f.polled.length === 0) return counted(f.votes, hears);
  return new Set([...f.votes, ...f.polled].filter(hears).map((v) => v.observer)).size;
}

/**
 * Counts. Stale, abstaining and unheard-of observers are in the denominator and never among the accusers.
 *
 * In a large fleet the few observers of a node can share its fate, or its switch: they raise the suspicion, and must
 * themselves report it down, but most of those that were polled must as well.
 *
 * Two members: the peer reports it down and the monitor reaches its witness; the BMC's definite answer is asked for by
 * the BLIND gate before anything is powered off, as it is where a fleet has one network only.
 *
 * Who cannot send to the node says nothing of it, and is in the denominator. Where most cannot send on a network at all
 * it is out, for the living as well, and a death is judged by the others: with one left, as in a fleet that has one.
 */
export function tally(f: TargetFacts): Tally {
  const most = (count: number): boolean => isMost(count, f.votes.length);
  const watching = accusersIn(f.votes);
  const polled = f.polled && { assigned: f.polled.length, accusers: accusersIn(f.polled) };
  const sighted =
    (f.members > 0 && f.otherReporters >= majority(f.members)) ||
    (f.members === 2 && f.otherReporters === 1 && f.witness);
  const suspect = most(counted(f.votes, (v) => v.suspects));
  const on = (network: string, of: (v: Vote) => readonly string[]): number =>
    counted(f.votes, (v) => of(v).includes(network));
  const answered = (network: string): number => on(network, (v) => v.answeredOn);
  const speaking = (network: string): number => on(network, (v) => v.heardOn) + on(network, (v) => v.missingOn);
  return {
    withoutQuorum: lacksQuorum(f.reporters, f.members),
    sighted,
    suspect,
    assigned: polled?.assigned ?? f.votes.length,
    accusers: polled?.accusers ?? watching,
    hears: hearersIn(f),
    down:
      sighted &&
      most(watching) &&
      (polled === undefined || isMost(polled.accusers, polled.assigned)) &&
      !f.ownFresh &&
      f.ownSilenceMs >= f.freshness &&
      f.ownProbe === 'silent' &&
      !f.conflict,
    silentNetworks: f.networks.filter((n) => most(on(n, (v) => v.silentOn)) || f.out.includes(n)),
    mostAnswered: f.networks.filter((n) => !f.out.includes(n) && isMost(answered(n), speaking(n))),
    allAnswered: f.networks.filter((n) => !f.out.includes(n) && answered(n) > 0 && answered(n) === speaking(n)),
  };
}
