import { Injectable } from '@nestjs/common';
import { AgeBook } from '../ages/age-book.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import type { Concern } from '../plan/concern.js';
import { agesIn, keepAges, type Ages } from '../snapshot/ages.js';
import type { Fleet } from '../snapshot/fleet.js';
import { FleetSource } from '../snapshot/fleet-source.js';
import { inParallel } from '../store/in-parallel.js';
import { InventoryStore } from '../store/inventory-store.js';
import { IntentWriter } from './intent-writer.js';

/** Carries out what concerns plan: a snapshot, its plan, and each intent of it by itself, under the lease of the run. */
@Injectable()
export class PlanExecutor {
  private readonly books = new Map<unknown, AgeBook>();

  constructor(
    private readonly store: InventoryStore,
    private readonly fleets: FleetSource,
    private readonly writer: IntentWriter,
  ) {}

  /** What the conductor's executor runs for it. */
  drive<C extends string>(concern: Concern<C>): Reconciler {
    const { pace } = concern;
    return {
      reconcile: (run) =>
        pace === undefined ? this.round(run, concern) : run.every('look', pace, () => this.round(run, concern)),
    };
  }

  /** What it goes by as of now, for who shows what would be done: no age begins by asking. */
  asOf<C extends string>(concern: Concern<C>): { fleet: Fleet; ages: Ages<C> } {
    return { fleet: this.fleets.now(), ages: agesIn<C>(this.bookOf(concern)) };
  }

  private async round<C extends string>(run: TaskRun, concern: Concern<C>): Promise<void> {
    const first = this.fleets.now(undefined, run.token);
    if (concern.isKnown?.(first) === false) return;
    const fleet = concern.asks === undefined ? first : await this.fleets.read(concern.asks(first), run.token);
    if (concern.isKnown?.(fleet) === false) return;
    const book = this.bookOf(concern);
    const ages = agesIn<C>(book);
    if (concern.conditions !== undefined) keepAges(book, concern.conditions(fleet, ages));
    await inParallel(concern.plan(fleet, ages), (intent) =>
      run.isolated(intent.about, () => this.writer.carryOut(intent, run)),
    );
  }

  private bookOf(concern: unknown): AgeBook {
    const book = this.books.get(concern) ?? new AgeBook(this.store.clock);
    this.books.set(concern, book);
    return book;
  }
}
