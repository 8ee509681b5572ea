import type { Report } from '#contracts';
import { isNewer } from './newer.js';

/** What tells one report of a node from another. */
export type ReportMark = Pick<Report, 'epoch' | 'seq' | 'bootId'>;

/** The report of a node that was kept last, and how long ago it was received, ms on the asker's monotonic clock. */
export interface KeptReport {
  report: ReportMark;
  ageMs: number;
}

/** To the detector: after this long without a report, one of an earlier start is a new system's, ms. */
export const NEW_SYSTEM_MS = 10_000;
/** To inventory: after this long without a report, a lower epoch of another boot is a new machine's, ms. */
export const NEW_MACHINE_MS = 5_000;

/** Of one start of one agent: each start has one boot. */
export const isSameProcess = (a: Omit<ReportMark, 'seq'>, b: Omit<ReportMark, 'seq'>): boolean =>
  a.epoch === b.epoch && a.bootId === b.bootId;

/** Who names the same start with another boot is another machine under the same name. */
export const isNamesake = (was: KeptReport, report: ReportMark): boolean =>
  report.epoch === was.report.epoch && !isSameProcess(was.report, report) && was.ageMs < NEW_SYSTEM_MS;

/**
 * Late, to who counts votes: another start is believed once the last report is old, since the host may have been set up
 * anew. Of the same start an earlier report is late for ever: a connection that loses segments may hold it for a long time.
 */
export const isLateForVotes = (was: KeptReport, report: ReportMark): boolean =>
  !isNewer(report, was.report) && (isSameProcess(was.report, report) || was.ageMs < NEW_SYSTEM_MS);

/**
 * Late, to who follows what runs where. Of the boot that is known only a newer report counts, however old the last one is.
 * Another boot with a greater epoch counts at once, and with a lower or the same one when the last report is old: what
 * went back and forth between two machines would look like reboots, of which each loses the workloads.
 */
export function isLateForWork(was: KeptReport, report: ReportMark): boolean {
  const isOtherBoot = report.bootId !== was.report.bootId;
  const isOlder = !isNewer(report, was.report) || (report.epoch === was.report.epoch && isOtherBoot);
  return isOlder && (!isOtherBoot || was.ageMs < NEW_MACHINE_MS);
}
