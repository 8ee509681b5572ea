import type { NodeRecord } from '#contracts';

/** Muster is to power it off when it dies, by its configuration: so it needs a power device, whatever its status. */
export const isFencedAutomatically = (n: Pick<NodeRecord, 'enrolled' | 'fencing'>): boolean =>
  n.enrolled && n.fencing === 'auto';

/** A verdict alone would power it off as it stands now: it serves, and no operator has taken it out. */
export const isFencedByVerdict = (n: Pick<NodeRecord, 'enrolled' | 'fencing' | 'cordon' | 'status'>): boolean =>
  isFencedAutomatically(n) && n.cordon === undefined && n.status === 'Allocated';
