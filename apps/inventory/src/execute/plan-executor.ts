import { Injectable } from '@nestjs/common';
import { AgeBook } from '../ages/age-book.js';
import { AskedBook } from '../ages/asked-book.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { Investigator } from '../incidents/investigator.js';
import type { Concern, Inquiries, Since } from '../plan/concern.js';
import { failedOnce } from '../plan/each-record.js';
import type { FailRecord, Intent } from '../plan/intent.js';
import { agesIn, keepAges, type Ages } from '../snapshot/ages.js';
import type { Fleet, Reading } from '../snapshot/fleet.js';
import { FleetSource } from '../snapshot/fleet-source.js';
import type { Inquiry, Investigation } from '../snapshot/investigation.js';
import { inParallel } from '../store/in-parallel.js';
import { InventoryStore } from '../store/inventory-store.js';
import { IntentWriter } from './intent-writer.js';

/** Carries out what concerns plan: a snapshot, its plan, and each intent of it by itself, under the lease of the run. */
@Injectable()
export class PlanExecutor {
  private readonly books = new Map<unknown, { ages: AgeBook; term: number | undefined }>();
  private readonly inquired = new Map<unknown, AskedBook>();

  constructor(
    private readonly store: InventoryStore,
    private readonly fleets: FleetSource,
    private readonly writer: IntentWriter,
    private readonly investigator: Investigator,
  ) {}

  /** What the conductor's executor runs for it. */
  drive<C extends string>(concern: Concern<C>): Reconciler {
    const { pace } = concern;
    if (pace === undefined) return { reconcile: (run) => this.round(run, concern) };
    // What is not known yet is looked at as soon as it is.
    const isKnown = (run: TaskRun): boolean =>
      concern.isKnown === undefined || concern.isKnown(this.fleets.now(undefined, run.token));
    return {
      reconcile: (run) => (isKnown(run) ? run.every('look', pace, () => this.round(run, concern)) : undefined),
    };
  }

  /** What it goes by as of now, for who shows what would be done: no age begins by asking. */
  asOf<C extends string>(concern: Concern<C>): { fleet: Fleet; ages: Ages<C> } {
    return { fleet: this.fleets.now(), ages: agesIn<C>(this.bookOf(concern)) };
  }

  /** The same, with what is found out about those that have an incident. Nobody is taken for suspect by it. */
  async findOut<C extends string>(
    concern: Concern<C>,
  ): Promise<{ fleet: Fleet; ages: Ages<C>; found: Investigation[] }> {
    const { fleet, ages } = this.asOf(concern);
    const inquiries = concern.inquires?.(fleet, { ages, inquiredMs: () => undefined });
    const about = inquiries?.about.filter((q) => q.incident !== undefined) ?? [];
    const found = await Promise.all(about.map((q) => this.investigator.of(q)));
    return { ...this.asOf(concern), found: found.filter((x) => x !== undefined) };
  }

  /** Undefined: nothing is to be done. */
  private round<C extends string>(run: TaskRun, concern: Concern<C>): Promise<void> | undefined {
    const first = this.fleets.now(undefined, run.token);
    if (concern.isKnown?.(first) === false) return undefined;
    const suspicions = concern.suspects?.(first, this.sinceOf(concern));
    const unasked = suspicions === undefined ? [] : this.investigator.suspect(suspicions);
    // What was begun by it shows in a snapshot that is taken after.
    const fleet = suspicions === undefined ? first : this.fleets.now(undefined, run.token);
    const asked = concern.asks?.(fleet);
    return asked === undefined ? this.act(run, concern, fleet, unasked) : this.askAndAct(run, concern, asked, unasked);
  }

  private async askAndAct<C extends string>(
    run: TaskRun,
    concern: Concern<C>,
    asked: Reading,
    unasked: readonly FailRecord[],
  ): Promise<void> {
    const fleet = await this.fleets.read(asked, run.token);
    if (concern.isKnown?.(fleet) === false) return;
    await this.act(run, concern, fleet, unasked);
  }

  /** @param unasked suspects whose power devices could not be asked */
  private act<C extends string>(
    run: TaskRun,
    concern: Concern<C>,
    fleet: Fleet,
    unasked: readonly FailRecord[],
  ): Promise<void> | undefined {
    const book = this.bookOf(concern, concern.perTerm && run.token);
    const ages = agesIn<C>(book);
    if (concern.seesStorms !== undefined) this.fleets.storms.note(run.token, run.now, concern.seesStorms(fleet));
    const held = concern.conditions?.(fleet, ages);
    if (held !== undefined) keepAges(book, held);
    const { about: inquiries, failed = [] } = this.inquiriesOf(concern, fleet);
    const intents = failedOnce([...unasked, ...(held?.failed ?? []), ...failed, ...concern.plan(fleet, ages)]);
    if (inquiries.length === 0 && intents.length === 0) return undefined;
    return this.actOn(run, concern, inquiries, intents);
  }

  private async actOn<C extends string>(
    run: TaskRun,
    concern: Concern<C>,
    inquiries: readonly Inquiry[],
    intents: readonly Intent[],
  ): Promise<void> {
    const inquired = inquiries.map((inquiry) =>
      run.isolated({ node: inquiry.node.name }, () => this.inquire(run, concern, inquiry), 'inquire'),
    );
    await inParallel(intents, (intent) =>
      run.isolated(intent.about, () => this.writer.carryOut(intent, run), intent.do),
    );
    await Promise.all(inquired);
  }

  private inquiriesOf<C extends string>(concern: Concern<C>, fleet: Fleet): Pick<Inquiries, 'about' | 'failed'> {
    const inquiries = concern.inquires?.(fleet, this.sinceOf(concern)) ?? { about: [], marks: [] };
    if (inquiries.marks.length > 0) this.askedOf(concern).note(inquiries.marks);
    return inquiries;
  }

  /** One node: it is planned when it is known what it is about, and holds up no other. */
  private async inquire<C extends string>(run: TaskRun, concern: Concern<C>, inquiry: Inquiry): Promise<void> {
    const found = await this.investigator.of(inquiry);
    if (found === undefined) return;
    const fleet = this.fleets.now(undefined, run.token);
    const book = this.bookOf(concern);
    for (const condition of concern.holdsBy?.(found, fleet) ?? []) book.see(condition);
    for (const intent of concern.found?.(found, fleet, agesIn<C>(book)) ?? []) await this.writer.carryOut(intent, run);
  }

  private sinceOf<C extends string>(concern: Concern<C>): Since<C> {
    const asked = this.askedOf(concern);
    return { ages: agesIn<C>(this.bookOf(concern)), inquiredMs: (mark) => asked.agoMs(mark) };
  }

  private askedOf(concern: unknown): AskedBook {
    let book = this.inquired.get(concern);
    if (book === undefined) this.inquired.set(concern, (book = new AskedBook(this.store.clock)));
    return book;
  }

  /** @param term where ages are those of a term; undefined: they are not, or any term's */
  private bookOf(concern: Pick<Concern, 'clock'>, term?: number): AgeBook {
    let book = this.books.get(concern);
    const clock = concern.clock === 'sighted' ? this.fleets.sightedClock : this.store.clock;
    if (book === undefined || (term !== undefined && book.term !== term))
      this.books.set(concern, (book = { ages: new AgeBook(clock), term }));
    return book.ages;
  }
}
