import type { Bus } from '#bus';
import {
  MusterError,
  READS,
  SETTINGS_KEY,
  type Clock,
  type ClusterSettings,
  type IncidentRecord,
  type RpcAnswer,
} from '#contracts';
import { counts, isFor, slowAnswers, type RecheckAnswer } from '#domain/power/recheck-answer.js';
import { handedReads, type Attempt } from './attempt.js';
import type { LeaseTerm } from './lease-term.js';
import type { Snapshot } from './snapshot.js';

export interface RechecksParts {
  bus: Bus;
  /** Whose incident it is. */
  node: string;
  term: LeaseTerm;
}

/**
 * Asks inventory whether the incident of one node still stands, on the verdict as of now. An answer is kept with the
 * attempt that it was asked for, together with what inventory knows of the node's devices.
 */
export class Rechecks {
  private loggedStop: string | undefined;

  constructor(private readonly parts: RechecksParts) {}

  private get clock(): Clock {
    return this.parts.bus.clock;
  }

  /**
   * Right before the intent of an `off`, which may have waited long for its turn: an answer that has aged, or that was
   * given before the settings were changed, is asked for anew.
   */
  async mayPowerOff({ incident, revision }: Snapshot, attempt: Attempt): Promise<boolean> {
    const settings = await this.settingsRevision();
    let answer = attempt.recheck;
    if (answer?.settings !== settings || !counts(answer, this.clock.monotonicMs()))
      answer = await this.ask(incident, attempt);
    return isFor(answer, revision) && counts(answer, this.clock.monotonicMs());
  }

  /** The same after the intent: the store may have tried for seconds to write it. */
  async stillMayPowerOff(i: IncidentRecord, attempt: Attempt): Promise<boolean> {
    if (counts(attempt.recheck, this.clock.monotonicMs())) return true;
    const answer = await this.ask(i, attempt);
    return counts(answer, this.clock.monotonicMs());
  }

  /**
   * Does the incident still stand? No answer is a no.
   * @throws LEASE_LOST, and what the store throws where the settings cannot be read
   */
  async ask(i: IncidentRecord, attempt: Attempt): Promise<RecheckAnswer> {
    const { bus, node, term } = this.parts;
    const settings = await this.settingsRevision();
    const atMs = this.clock.monotonicMs();
    let answer: Pick<RpcAnswer<'inventory.incidents.recheck'>, 'go' | 'reason' | 'revision' | 'identity'>;
    try {
      const request = { node, incident: i.id, epoch: term.check(), reads: READS.powerRecords };
      answer = await bus.call('inventory.incidents.recheck', request);
    } catch (error) {
      const failure = MusterError.from(error);
      if (failure.code === 'LEASE_LOST') throw failure;
      answer = { go: false, reason: `inventory cannot be asked: ${failure.message}`, revision: 0 };
    }
    const { go, reason, revision } = answer;
    const slow = slowAnswers(attempt.recheck, this.clock.monotonicMs() - atMs);
    const recheck: RecheckAnswer = { atMs, go, reason, revision, settings, slow };
    attempt.recheck = recheck;
    if (answer.identity !== undefined) attempt.handed = handedReads(answer.identity, atMs);
    if (!go && reason !== this.loggedStop) bus.log.info({ node, reason }, 'fencing is not to go on now');
    this.loggedStop = go ? undefined : reason;
    return recheck;
  }

  /** Read before inventory is asked: a pause that is set after that is in a later one. */
  private async settingsRevision(): Promise<number> {
    return (await this.parts.bus.bucket<ClusterSettings>('settings').get(SETTINGS_KEY))?.revision ?? 0;
  }
}
