import type { PendingReturn } from '#contracts';

/** Where a return stands. */
export type ReturnStage =
  'due' | 'checking' | 'to be set up' | 'being set up' | 'held' | 'held for work' | 'in service';

/** By the node's record; `in service` as far as a return is concerned. */
export function returnStage(p: PendingReturn | undefined): ReturnStage {
  if (p === undefined) return 'in service';
  if (p.held !== undefined) return p.heldBy === 'work' ? 'held for work' : 'held';
  if (p.next === 'resetup') return p.job === undefined ? 'to be set up' : 'being set up';
  return p.job === undefined ? 'due' : 'checking';
}
