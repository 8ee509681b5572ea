import { Injectable } from '@nestjs/common';
import { MusterError } from '#contracts';
import { InventoryStore } from './inventory-store.js';

/** Who did what, and whether it was taken: one event for each request that changes something. */
@Injectable()
export class AuditService {
  constructor(private readonly store: InventoryStore) {}

  /** Runs the act, tells of it either way, and hands its answer or its error on. */
  async of<T>(by: string, action: string, subject: string, detail: string, act: () => Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await act();
    } catch (e) {
      const error = MusterError.from(e);
      await this.tell(by, action, subject, `${detail}: ${error.code} ${error.message}`, 'refused');
      throw error;
    }
    await this.tell(by, action, subject, detail, 'accepted');
    return result;
  }

  private async tell(
    by: string,
    action: string,
    subject: string,
    detail: string,
    outcome: 'accepted' | 'refused',
  ): Promise<void> {
    try {
      await this.store.bus.emit('audit', eventKey(subject), { by, action, subject, detail, outcome });
    } catch (e) {
      // The act is done (or refused) already: its outcome must reach the caller, and this line keeps the trace.
      this.store.bus.log.error({ err: e, by, action, subject, outcome }, 'an audit event was not stored');
    }
  }
}

/** A subject from outside may hold what a NATS token cannot. */
const eventKey = (subject: string): string => subject.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(0, 120) || '_';
