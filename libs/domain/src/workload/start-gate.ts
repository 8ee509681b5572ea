import type { RunningWorkload } from '#contracts';

/** Names that are kept of a node at most: that there is one is what decides. */
export const MOST_UNGATED = 100;

/**
 * What runs on a node without a start gate, after it has said what runs there; undefined: as it was. Its next boot may
 * start that a second time, since nothing asks before. A run of which its agent does not tell (an agent of before) stays
 * what it was: nothing is known to be wrong, and nothing to be mended.
 * @param was sorted, of the node's record; undefined: none
 * @param workloads of its fresh report; undefined: it does not know what runs there
 */
export function ungatedAfter(
  was: readonly string[] | undefined,
  workloads: readonly RunningWorkload[] | undefined,
): string[] | undefined {
  if (workloads === undefined) return undefined;
  const known = new Set(was);
  const names = workloads.filter((w) => w.gated === false || (w.gated === undefined && known.has(w.name)));
  const is = [...new Set(names.map((w) => w.name))].sort().slice(0, MOST_UNGATED);
  return is.join('\n') === (was ?? []).join('\n') ? undefined : is;
}

/** `db, web and 3 more ran there without Muster's start gate` */
export function ungatedText(ungated: readonly string[]): string {
  const named = ungated.slice(0, 5).join(', ');
  const more = ungated.length > 5 ? ` and ${ungated.length - 5} more` : '';
  return `${named}${more} ran there without Muster's start gate`;
}
