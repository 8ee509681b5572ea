import type { Pace } from '../conductor/task.js';
import type { Ages, Conditions } from '../snapshot/ages.js';
import type { Fleet, Reading } from '../snapshot/fleet.js';
import type { Intent } from './intent.js';

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
  conditions?(fleet: Fleet, ages: Ages<C>): Conditions<C>;
  plan(fleet: Fleet, ages: Ages<C>): Intent[];
}
