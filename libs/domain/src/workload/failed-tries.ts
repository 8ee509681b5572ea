import type { WorkloadRecord } from '#contracts';

/** How often an order did not work so far, for people; undefined: not once. */
const tries = (order: string, node: string | undefined, n: number, why = ''): string | undefined =>
  n === 0 ? undefined : `Its ${order} on ${node ?? '?'} failed ${n} time(s). ${why}`.trim();

/** Of the start that it is owed. */
export const failedStart = ({ start, assignment, held }: WorkloadRecord): string | undefined =>
  tries('start', assignment?.node, start?.attempt ?? 0, held);

/** Of the stop that it is owed. */
export const failedStop = ({ stop, assignment }: WorkloadRecord): string | undefined =>
  tries('stop', assignment?.node, stop?.attempt ?? 0, stop?.why);
