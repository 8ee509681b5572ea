import { Injectable } from '@nestjs/common';
import { RESERVATIONS_KEY } from '#contracts';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { editOf } from '../operations/edit-key.js';
import { InventoryStore } from '../store/inventory-store.js';
import { EditsService } from './edits.service.js';

/** A prepared edit that nobody has decided for so long, ms, is given up: its replica is dead. */
const UNDECIDED_MS = 60_000;

/** Completes edits that were decided and left half written, and sweeps those that were prepared and never decided. */
@Injectable()
export class EditForwardReconciler implements Reconciler {
  /** When each edit that is not decided was first seen here. */
  private readonly waiting = new Map<string, number>();

  constructor(
    private readonly store: InventoryStore,
    private readonly edits: EditsService,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    const { view } = this.store.reservations;
    const decided = Object.keys(view.get(RESERVATIONS_KEY)?.value.edits ?? {});
    for (const edit of decided) {
      await c.isolated({ edit }, () => this.edits.carryOut(edit));
    }
    const prepared = new Set(view.entries().flatMap((e) => editOf(e.key) ?? []));
    for (const edit of this.waiting.keys()) if (!prepared.has(edit)) this.waiting.delete(edit);
    for (const edit of prepared) {
      const since = this.waiting.get(edit) ?? c.now;
      this.waiting.set(edit, since);
      if (decided.includes(edit) || c.now - since < UNDECIDED_MS) continue;
      await c.isolated({ edit }, () => this.edits.sweep(edit));
    }
  }
}
