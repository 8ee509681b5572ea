import type { Pace } from '../conductor/task.js';
import type { Ages, Conditions } from '../snapshot/ages.js';
import type { Fleet, Reading } from '../snapshot/fleet.js';
import type { Inquiry, Investigation, Suspicions } from '../snapshot/investigation.js';
import type { StormsSeen } from '../snapshot/storm-book.js';
import type { FailRecord, Intent } from './intent.js';

/** For how long conditions have held, and how long ago a thing was looked into. */
export interface Since<C extends string> {
  readonly ages: Ages<C>;
  /** Undefined: never, or long ago. */
  inquiredMs(mark: string): number | undefined;
}

export interface Inquiries {
  readonly about: readonly Inquiry[];
  /** What is looked into now, so that it is not again at once. */
  readonly marks: readonly string[];
  /** Of which that could not be decided. @default none */
  readonly failed?: readonly FailRecord[];
}

/** What holds as of now, and the records of which that could not be decided: their ages begin anew, unless `unknown`. */
export interface DecidedConditions<C extends string> extends Conditions<C> {
  /** @default none */
  readonly failed?: readonly FailRecord[];
}

/**
 * One concern of the conductor as pure functions: what is to be done about a fleet of one moment. The same functions are
 * asked by who acts and by who shows what would be done.
 * @typeParam C the conditions whose ages it goes by
 */
export interface Concern<C extends string = never> {
  /** At most so often, however often it is woken. @default as often as it is woken */
  readonly pace?: Pace;
  /** Whether enough is known to plan at all; if not, nothing is done, and every age goes on. @default it is */
  isKnown?(fleet: Fleet): boolean;
  /** What no view shows, and has to be read before it is planned; undefined: as of now nothing. @default nothing */
  asks?(fleet: Fleet): Reading | undefined;
  /**
   * What holds as of now. @default nothing
   * @param ages as they were before this look
   */
  conditions?(fleet: Fleet, ages: Ages<C>): DecidedConditions<C>;
  /**
   * Permits, incidents, storms and silences as of now: the snapshot keeps their ages for all concerns, and they outlive a
   * process. Noted before it is planned, by who acts. Undefined: not all of it is known, and every age goes on.
   * @default not noted
   */
  seesStorms?(fleet: Fleet): StormsSeen | undefined;
  /**
   * By which its ages go. `sighted`: the one that goes only while a detector is heard that sees the fleet, for what nobody
   * could have seen meanwhile. @default this process's own monotonic clock
   */
  readonly clock?: 'sighted';
  /**
   * Every age begins anew with each term of the conductor: what only others tell is not known yet to who has just begun
   * to look. @default it goes on
   */
  readonly perTerm?: true;
  plan(fleet: Fleet, ages: Ages<C>): Intent[];
  /** Who is suspect: whose power devices are asked beside everything else. @default nobody */
  suspects?(fleet: Fleet, since: Since<C>): Suspicions;
  /**
   * What has to be found out about single nodes. Each is planned by itself, as soon as it is known: one about which nobody
   * answers holds up no other. @default nothing
   */
  inquires?(fleet: Fleet, since: Since<C>): Inquiries;
  /** What holds besides, by what was found out. @default nothing */
  holdsBy?(found: Investigation, fleet: Fleet): Iterable<C>;
  /** What is to be done about the node. The fleet is that of the moment when it was known. */
  found?(found: Investigation, fleet: Fleet, ages: Ages<C>): Intent[];
}
