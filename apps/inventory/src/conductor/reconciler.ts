/** The right of one round: held by the conductor only. */
export interface ConductorView {
  /** Epoch of the lease; written into every incident, job and assignment that the round decides. */
  readonly token: number;
  /**
   * To be asked right before each write of the round.
   * @returns the token
   * @throws MusterError LEASE_LOST when another may hold the lease by now
   */
  check(): number;
  /** Monotonic ms of this process at the start of the round. */
  readonly now: number;
}

/**
 * One concern that the conductor drives: from the records as they are towards what they should be. Level-triggered: it
 * looks at all of its records each round, so that a crash at any moment, or a lost wake-up, costs one second.
 * Each adds itself in its constructor: `conductor.add(this)`.
 */
export interface Reconciler {
  readonly name: string;
  reconcile(c: ConductorView): Promise<void>;
}
