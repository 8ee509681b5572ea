import type { DetectionSettings, Report } from '#contracts';
import { isHealthyReporter } from './stance.js';
import type { Heard } from './report-book.js';

/** An agent's warning that datagrams come from two machines of one name; the name is its last word. */
const WARNING = 'duplicate: ';

const namesIn = ({ health }: Report): string[] =>
  (health.warnings ?? []).filter((w) => w.startsWith(WARNING)).map((w) => w.slice(w.lastIndexOf(' ') + 1));

/**
 * Whether two machines speak under this name on the wire: what others hear, or do not hear, may then be of either. The
 * node itself says so, or two of its observers do; the word of one that may be wrong stops no verdict, unless there is
 * but one.
 * @param observers those by the plan
 * @param heard the last word of each
 */
export function isDuplicated(
  node: string,
  observers: readonly string[],
  heard: (name: string) => Heard | undefined,
  now: number,
  n: DetectionSettings,
): boolean {
  const says = (name: string): boolean => {
    const h = heard(name);
    return h?.report.health.warnings !== undefined && isHealthyReporter(h, now, n) && namesIn(h.report).includes(node);
  };
  if (says(node)) return true;
  let count = 0;
  for (const o of observers) if (says(o)) count++;
  return count >= Math.min(2, Math.max(1, observers.length));
}
