import type { Concern } from '../plan/concern.js';
import type { Intent } from '../plan/intent.js';
import { ageMs } from '../snapshot/ages.js';
import { fleetOf } from './investigation.js';
import type { MemoryStore } from './memory-store.js';

/** One round of planning, in which every condition has held for long. */
export function planRound(concern: Concern<string>, store: MemoryStore): { intents: Intent[]; inquired: string[] } {
  const fleet = fleetOf(store, { term: 9 });
  const ages = { of: () => ageMs(3_600_000) };
  const since = { ages, inquiredMs: () => undefined };
  concern.suspects?.(fleet, since);
  const { failed = [] } = concern.conditions?.(fleet, ages) ?? {};
  const { about, failed: uninquired = [] } = concern.inquires?.(fleet, since) ?? { about: [] };
  return {
    intents: [...failed, ...uninquired, ...concern.plan(fleet, ages)],
    inquired: about.map((q) => q.node.name),
  };
}
