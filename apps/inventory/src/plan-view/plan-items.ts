import type { PlanItem } from '#contracts';
import { incidentItems } from './incident-items.js';
import { checkItems, cordonItems, drainItems, jobItems, returnItems, stormItems } from './node-items.js';
import type { PlanFacts } from './plan-facts.js';
import { powerItems } from './power-items.js';
import { workloadItems } from './workload-items.js';

/** Pure: what is done next or waited for by the deciders that are asked, what acts first. Empty: none has anything to do. */
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
    ...cordonItems(f),
  ];
  const rank = { acts: 0, would: 1, waits: 2 };
  return items.sort((a, b) => rank[a.does] - rank[b.does]);
}
