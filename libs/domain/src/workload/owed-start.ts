import type { RunningWorkload, WorkloadRecord } from '#contracts';
import { ENDED, REBOOT, RUN_AGAIN } from './causes.js';

/**
 * Does a run that its node reports say that the owed start is done?
 * - One that is only being started does not: its gate may refuse it yet.
 * - After a reboot one of the boot that it was lost with does not: that report may be of before. Any other boot is later.
 * - After a stop, and where it was moved, only a run of that very start does.
 */
export const provesStart = (w: WorkloadRecord, run: Omit<RunningWorkload, 'name'>, bootId: string): boolean => {
  if (run.starting === true) return false;
  const cause = w.start?.cause ?? '';
  const isReboot = cause.startsWith(REBOOT);
  if (isReboot && w.boot !== undefined) return w.boot !== bootId;
  // The boot of that cause is another node's.
  if (isReboot || cause === RUN_AGAIN) return run.generation >= (w.assignment?.generation ?? Infinity);
  return true;
};

/** Its node itself does not run it: where that is out of service, it may go elsewhere. */
export const maySwitchNode = (w: WorkloadRecord): boolean =>
  w.start?.cause === ENDED || w.start?.cause.startsWith(REBOOT) === true;

/** Given also where its node says that it runs it: that may be of before. */
export const isGivenAnyway = (w: WorkloadRecord): boolean => maySwitchNode(w) || w.start?.cause === RUN_AGAIN;

/** Nothing of it may be running: it is assigned nowhere, or its stop was read back. */
export const isStopped = (w: WorkloadRecord): boolean =>
  w.assignment === undefined || (w.desired === 'stopped' && w.stop === undefined);

/** What a wait for its node is about: a reboot keeps the generation, and each one has its own wait. */
export const waitKey = (w: WorkloadRecord): `node/${string}` =>
  `node/${w.name}/${w.generation}/${w.start?.cause ?? ''}`;
