import type { Entry } from '#bus';

/** The records of one bucket as of one moment: what changes later is not seen in it. */
export class Records<T> {
  private byKey: ReadonlyMap<string, Entry<T>> | undefined;

  /**
   * @param list as the view hands it out: it is not copied
   * @param unreadable keys of records that are there, and that nobody can read
   * @param live the watch was connected: none lacks
   */
  constructor(
    readonly list: readonly Entry<T>[],
    readonly unreadable: ReadonlySet<string> = new Set(),
    readonly live = true,
  ) {}

  get(key: string): Entry<T> | undefined {
    this.byKey ??= new Map(this.list.map((e) => [e.key, e]));
    return this.byKey.get(key);
  }

  /** There is a record of that key, be it one that cannot be read. */
  has(key: string): boolean {
    return this.get(key) !== undefined || this.unreadable.has(key);
  }

  /** The same, but for what was read since; undefined: there is none. */
  with(read: ReadonlyMap<string, Entry<T> | 'unreadable' | undefined>): Records<T> {
    if (read.size === 0) return this;
    // What a read brought may be older than what the view shows by now, where another read took longer.
    const found = [...read.values()].flatMap((e) => {
      if (e === undefined || e === 'unreadable') return [];
      const shown = this.get(e.key);
      return [shown !== undefined && shown.revision > e.revision ? shown : e];
    });
    const lost = [...read].flatMap(([key, e]) => (e === 'unreadable' ? [key] : []));
    return new Records(
      [...this.list.filter((e) => !read.has(e.key)), ...found],
      new Set([...[...this.unreadable].filter((key) => !read.has(key)), ...lost]),
      this.live,
    );
  }
}
