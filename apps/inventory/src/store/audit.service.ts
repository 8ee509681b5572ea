import { Injectable } from '@nestjs/common';
import { MusterError, toldOutside, type By } from '#contracts';
import { AfterAnswer } from './after-answer.js';
import { InventoryStore } from './inventory-store.js';

/** Who did what, and whether it was taken: one event for each request that changes something. */
@Injectable()
export class AuditService {
  constructor(
    private readonly store: InventoryStore,
    private readonly after: AfterAnswer,
  ) {}

  /** Runs the act, tells of it either way, and hands its answer or its error on. */
  async of<T>(by: By | string, action: string, subject: string, detail: string, act: () => Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await act();
    } catch (e) {
      await this.tell(by, action, subject, refusal(detail, e), 'refused');
      throw MusterError.from(e);
    }
    await this.tell(by, action, subject, detail, 'accepted');
    return result;
  }

  /**
   * As {@link of}, where what the act has stored names who asked for it: the event of an act that was taken need not
   * be waited for.
   */
  async ofStored<T>(
    by: By | string,
    action: string,
    subject: string,
    detail: string,
    act: () => Promise<T>,
  ): Promise<T> {
    const outcome = act();
    this.after.run(`audit of ${action}`, () =>
      outcome.then(
        () => this.tell(by, action, subject, detail, 'accepted'),
        (e: unknown) => this.tell(by, action, subject, refusal(detail, e), 'refused'),
      ),
    );
    return outcome;
  }

  /** What an act has brought about beside itself. */
  done(by: string, action: string, subject: string, detail: string): Promise<void> {
    return this.tell(by, action, subject, detail, 'accepted');
  }

  private async tell(
    who: By | string,
    action: string,
    subject: string,
    detail: string,
    outcome: 'accepted' | 'refused',
  ): Promise<void> {
    const { by, from }: By = typeof who === 'string' ? { by: who } : who;
    const source = from === undefined ? {} : { from };
    try {
      await this.store.bus.emit('audit', eventKey(subject), { by, ...source, action, subject, detail, outcome });
    } catch (e) {
      // The act is done (or refused) already: its outcome must reach the caller, and this line keeps the trace.
      this.store.bus.log.error({ err: e, by, ...source, action, subject, outcome }, 'an audit event was not stored');
    }
  }
}

function refusal(detail: string, e: unknown): string {
  const { code, message } = toldOutside(MusterError.from(e));
  return `${detail}: ${code} ${message}`;
}

/** A subject from outside may hold what a NATS token cannot. */
const eventKey = (subject: string): string => subject.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 120) || '_';
