import type { Page, PageRequest } from '#contracts';

/**
 * One page of a list that is sorted by a unique key. The cursor is the last key of the page before, so that entries
 * that come and go between two requests neither repeat nor hide others. Without a limit: all.
 */
export function page<T>(items: readonly T[], q: PageRequest, key: (item: T) => string): Page<T> {
  const { cursor, limit } = q;
  const rest = cursor === undefined ? items : items.filter((i) => key(i) > cursor);
  const taken = limit === undefined ? rest : rest.slice(0, Math.max(1, limit));
  const last = taken.at(-1);
  return last !== undefined && taken.length < rest.length
    ? { items: [...taken], next: key(last) }
    : { items: [...taken] };
}
