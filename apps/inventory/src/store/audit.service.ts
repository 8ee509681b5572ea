import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { MusterError, toldOutside, type By } from '#contracts';
import { AfterAnswer } from './after-answer.js';
import { AuditOutbox, type AuditEntry } from './audit-outbox.js';
import { InventoryStore } from './inventory-store.js';

/** Why it was asked for; and that it was so against what stands against it. */
export const auditReason = ({ reason, force }: { reason: string; force?: boolean }): string =>
  `${reason}${force === true ? ' (forced)' : ''}`;

/** Who did what, and whether it was taken: one event for each request that changes something. */
@Injectable()
export class AuditService implements OnApplicationShutdown {
  private readonly outbox: AuditOutbox;
  /** Since the store took one last. */
  private lost = 0;

  constructor(
    private readonly store: InventoryStore,
    private readonly after: AfterAnswer,
  ) {
    this.outbox = new AuditOutbox({
      clock: store.clock,
      store: (entry) => this.storeOne(entry),
      lost: ({ data }, err) => {
        this.lost += 1;
        // The act is done (or refused) already: this line keeps the trace.
        store.bus.log.error({ err, ...data }, 'an audit event was not stored');
      },
    });
  }

  onApplicationShutdown(): Promise<void> {
    return this.outbox.close();
  }

  /** Runs the act, tells of it either way, and hands its answer or its error on. */
  async of<T>(by: By | string, action: string, subject: string, detail: string, act: () => Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await act();
    } catch (e) {
      await this.record(by, action, subject, refusal(detail, e), 'refused');
      throw MusterError.from(e);
    }
    await this.record(by, action, subject, detail, 'accepted');
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
        () => this.record(by, action, subject, detail, 'accepted'),
        (e: unknown) => this.record(by, action, subject, refusal(detail, e), 'refused'),
      ),
    );
    return outcome;
  }

  /** What an act has brought about beside itself. */
  done(by: string, action: string, subject: string, detail: string): Promise<void> {
    return this.record(by, action, subject, detail, 'accepted');
  }

  private async record(
    who: By | string,
    action: string,
    subject: string,
    detail: string,
    outcome: 'accepted' | 'refused',
  ): Promise<void> {
    const { by, from }: By = typeof who === 'string' ? { by: who } : who;
    const source = from === undefined ? {} : { from };
    await this.outbox.add({
      id: this.store.bus.random.uuid(),
      key: eventKey(subject),
      data: { by, ...source, action, subject, detail, outcome },
    });
  }

  /** After a gap the audit says itself how many are missing in it. */
  private async storeOne({ id, key, data }: AuditEntry): Promise<void> {
    const { bus } = this.store;
    await bus.emit('audit', key, data, { id });
    const { lost } = this;
    if (lost === 0) return;
    this.lost = 0;
    const detail = `${lost} events of the audit were lost while the store was away: the log of inventory has them`;
    try {
      await bus.emit('audit', 'audit', {
        by: 'muster',
        action: 'audit-gap',
        subject: 'audit',
        detail,
        outcome: 'accepted',
      });
    } catch (err) {
      this.lost += lost;
      bus.log.warn({ err, lost }, 'the gap in the audit is not on record yet');
    }
  }
}

function refusal(detail: string, e: unknown): string {
  const { code, message } = toldOutside(MusterError.from(e));
  return `${detail}: ${code} ${message}`;
}

/** A subject from outside may hold what a NATS token cannot. */
const eventKey = (subject: string): string => subject.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 120) || '_';
