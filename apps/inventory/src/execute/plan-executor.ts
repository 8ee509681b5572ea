import { Injectable } from '@nestjs/common';
import { AgeBook } from '../ages/age-book.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import type { Concern } from '../plan/concern.js';
import { agesIn, keepAges, type Ages } from '../snapshot/ages.js';
import type { Fleet, Reading } from '../snapshot/fleet.js';
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

  /** Undefined: nothing is to be done. */
  private round<C extends string>(run: TaskRun, concern: Concern<C>): Promise<void> | undefined {
    const fleet = this.fleets.now(undefined, run.token);
    if (concern.isKnown?.(fleet) === false) return undefined;
    const asked = concern.asks?.(fleet);
    return asked === undefined ? this.act(run, concern, fleet) : this.askAndAct(run, concern, asked);
  }

  private async askAndAct<C extends string>(run: TaskRun, concern: Concern<C>, asked: Reading): Promise<void> {
    const fleet = await this.fleets.read(asked, run.token);
    if (concern.isKnown?.(fleet) === false) return;
    await this.act(run, concern, fleet);
  }

  private act<C extends string>(run: TaskRun, concern: Concern<C>, fleet: Fleet): Promise<void> | undefined {
    const book = this.bookOf(concern);
    const ages = agesIn<C>(book);
    if (concern.conditions !== undefined) keepAges(book, concern.conditions(fleet, ages));
    const intents = concern.plan(fleet, ages);
    if (intents.length === 0) return undefined;
    return inParallel(intents, (intent) => run.isolated(intent.about, () => this.writer.carryOut(intent, run)));
  }

  private bookOf(concern: unknown): AgeBook {
    let book = this.books.get(concern);
    if (book === undefined) this.books.set(concern, (book = new AgeBook(this.store.clock)));
    return book;
  }
}
