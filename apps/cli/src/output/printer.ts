import { UsageFailure } from '../failure/failure.js';
import type { Format } from './format.js';
import { oneLine } from './one-line.js';
import { rowLines, table } from './table.js';
import type { Terminal } from './terminal.js';

/** How things of one kind are shown. */
export interface View<T> {
  /** What `-o name` prints. */
  name: (item: T) => string;
  head: string[];
  /** A cell per word of the head; the first begins each line in a pipe. */
  row: (item: T) => string[];
  /** Said on a terminal where a list is empty. */
  none: string;
  /** In a pipe, where scripts expect other lines than those of the row. */
  lines?: (item: T) => string[];
  /** One alone on a terminal, where there is more to say than its row. */
  screen?: (item: T) => string[];
}

/** Answers in the form that was asked for: for people on a terminal, for grep in a pipe, for programs by `-o`. */
export class Printer {
  constructor(
    readonly terminal: Terminal,
    readonly format: Format | undefined,
  ) {}

  /** For a program: everything else that a command would say is left out. */
  get forMachines(): boolean {
    return this.format !== undefined && this.format !== 'table';
  }

  async list<T>(items: T[], view: View<T>): Promise<void> {
    if (await this.machine({ items }, items.map(view.name))) return;
    if (this.format === undefined && !this.terminal.interactive && view.lines !== undefined)
      for (const line of items.flatMap(view.lines)) this.terminal.line(oneLine(line));
    else this.rows(view.head, items.map(view.row), view.none);
  }

  async one<T>(item: T, view: View<T>): Promise<void> {
    if (await this.machine(item, [view.name(item)])) return;
    const lines = this.format === 'table' ? undefined : this.terminal.interactive ? view.screen : view.lines;
    if (lines === undefined) this.rows(view.head, [view.row(item)], view.none);
    else for (const line of lines(item)) this.terminal.line(oneLine(line));
  }

  /** What a command that changes something says: nothing in a pipe, a word on a terminal, its answer by `-o`. */
  async done(answer: unknown, name: string, word: string): Promise<void> {
    if (await this.machine(answer, [name])) return;
    if (this.terminal.interactive) this.terminal.line(word);
  }

  /**
   * Prints the value where a program's form was asked for, and answers whether it was.
   * @param names what `-o name` prints; absent: such a thing has none
   * @throws UsageFailure
   */
  async machine(value: unknown, names?: string[]): Promise<boolean> {
    if (!this.forMachines) return false;
    if (this.format === 'name') {
      if (names === undefined) throw new UsageFailure('-o name: this answer has no names; take json or yaml');
      for (const name of names) this.terminal.line(name);
    } else if (this.format === 'yaml') {
      // Loaded only here: every command starts faster without it.
      const { stringify } = await import('yaml');
      this.terminal.out(stringify(value));
    } else this.terminal.json(value);
    return true;
  }

  rows(head: string[], rows: string[][], none: string): void {
    if (this.format !== 'table' && !this.terminal.interactive)
      for (const line of rowLines(head, rows)) this.terminal.line(line);
    else if (rows.length === 0) {
      if (this.terminal.interactive) this.terminal.line(this.terminal.paint('dim', none));
    } else
      this.terminal.line(
        table(
          head.map((h) => this.terminal.paint('bold', h)),
          rows,
        ),
      );
  }
}
