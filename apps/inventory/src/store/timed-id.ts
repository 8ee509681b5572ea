import type { Clock, Random } from '#contracts';

/** Sorts by time within a process; unique by 6 random characters. */
export const timedId = (
  kind: 'claim' | 'edit' | 'job',
  o: { clock: Pick<Clock, 'wallMs'>; random: Pick<Random, 'hex'> },
): string => `${kind}-${o.clock.wallMs().toString(36)}-${o.random.hex(3)}`;
