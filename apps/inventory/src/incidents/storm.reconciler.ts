import { Injectable } from '@nestjs/common';
import { AGES_EVERY_MS } from '#contracts';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { PermitService } from './permit.service.js';

/** Trips storms whether or not an incident asks for a permit, ends those that are over, and writes down how old all is. */
@Injectable()
export class StormReconciler implements Reconciler {
  private written: { token: number; at: number } | undefined;

  constructor(private readonly permits: PermitService) {}

  async reconcile(c: TaskRun): Promise<void> {
    // A new conductor first learns how old all is from the one before.
    if (this.written?.token !== c.token) this.written = { token: c.token, at: c.now };
    const due = c.now - this.written.at >= AGES_EVERY_MS;
    await this.permits.keep(() => void c.check(), due);
    if (due) this.written = { token: c.token, at: c.now };
  }
}
