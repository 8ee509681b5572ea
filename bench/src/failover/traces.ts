import type { Beat } from '../../../lab/src/audit/ledger.js';
import type { BmcEntry } from '../../../lab/src/audit/bmc-log.js';

const MS = 1e6;

/** What a BMC itself wrote down of a death, ms after it; undefined where it did not come to that. */
export interface PowerTrace {
  offSentMs?: number;
  /** The second read that answered off after the order: one alone may have crossed it. */
  offConfirmedMs?: number;
}

/** @param deathNs CLOCK_MONOTONIC, as all times of the log */
export function powerTrace(log: readonly BmcEntry[], deathNs: number): PowerTrace {
  const off = log.find((e) => e.op === 'set' && e.what === 'power' && e.value === '0' && e.ns > deathNs);
  if (off === undefined) return {};
  const confirmed = log.filter((e) => e.op === 'get' && e.what === 'power' && e.value === '0' && e.ns > off.ns)[1];
  const after = (e: BmcEntry): number => (e.ns - deathNs) / MS;
  return { offSentMs: after(off), ...(confirmed && { offConfirmedMs: after(confirmed) }) };
}

/** The first that ran after the death, on whichever host but the dead one. */
export const firstBeatElsewhere = (beats: readonly Beat[], victim: string, deathNs: number): Beat | undefined =>
  beats.filter((b) => b.host !== victim && b.ns > deathNs).toSorted((a, b) => a.ns - b.ns)[0];
