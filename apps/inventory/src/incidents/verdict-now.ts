import { Injectable } from '@nestjs/common';
import { MusterError, Subjects, type CurrentVerdictRequest, type Verdict } from '#contracts';
import { ServiceContext } from '#service';

/** How long the active detector may take; it answers from memory. */
const ANSWER_MS = 800;

/** Asks the active detector itself: records and events may be behind, and a power-off must not be. */
@Injectable()
export class VerdictNow {
  constructor(private readonly context: ServiceContext) {}

  /** The verdict as of now; undefined where no detector answers, which lets nothing through. */
  async of(node: string): Promise<Verdict | undefined> {
    const request: CurrentVerdictRequest = { node };
    try {
      return await this.context.bus.ask<Verdict>(Subjects.currentVerdict(), request, { timeoutMs: ANSWER_MS });
    } catch (cause) {
      const e = MusterError.from(cause);
      this.context.log.warn(
        { node, code: e.code },
        `the detector did not say what it thinks of the node: ${e.message}`,
      );
      return undefined;
    }
  }
}
