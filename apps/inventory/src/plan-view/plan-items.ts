import type { PlanItem } from '#contracts';
import { incidentItems } from './incident-items.js';
import { checkItems, drainItems, jobItems, returnItems, stormItems } from './node-items.js';
import type { PlanFacts } from './plan-facts.js';
import { powerItems } from './power-items.js';
import { workloadItems } from './workload-items.js';

/** Pure: all that is done next or waited for, what acts first. Empty: no decider has anything to do. */
export function planItems(f: PlanFacts): PlanItem[] {
  const items = [
    ...incidentItems(f),
    ...powerItems(f),
    ...stormItems(f),
    ...workloadItems(f),
    ...drainItems(f),
    ...returnItems(f),
    ...jobItems(f),
    ...checkItems(f),
  ];
  const rank = { acts: 0, would: 1, waits: 2 };
  return items.sort((a, b) => rank[a.does] - rank[b.does]);
}
