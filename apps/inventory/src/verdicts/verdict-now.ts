import { Injectable } from '@nestjs/common';
import { MusterError, Subjects, type CurrentVerdictRequest, type Verdict } from '#contracts';
import { ServiceContext } from '#service';

/** How long the active detector may take; it answers from memory. */
const ANSWER_MS = 800;

/** Asks the active detector itself: records and events may be behind, and a power-off must not be. */
@Injectable()
export class VerdictNow {
  /** Why nobody answers, as it was logged: it is asked once a second while an incident is open. */
  private silent?: string;

  constructor(private readonly context: ServiceContext) {}

  /** The verdict as of now; undefined where no detector answers, which lets nothing through. */
  async of(node: string): Promise<Verdict | undefined> {
    const request: CurrentVerdictRequest = { node };
    try {
      const verdict = await this.context.bus.ask<Verdict>(Subjects.currentVerdict(), request, { timeoutMs: ANSWER_MS });
      if (this.silent !== undefined) this.context.log.info({ node }, 'the detector says again what it thinks of nodes');
      delete this.silent;
      return verdict;
    } catch (cause) {
      const e = MusterError.from(cause);
      const level = this.silent === e.code ? 'debug' : 'warn';
      this.silent = e.code;
      this.context.log[level](
        { node, code: e.code },
        `the detector did not say what it thinks of the node: ${e.message}`,
      );
      return undefined;
    }
  }
}
