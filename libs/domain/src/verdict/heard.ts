import { MANAGEMENT, type NodeRecord, type VerdictKind } from '#contracts';
import { shouldReport } from '../node/membership.js';

/*
 * Is the node there, by its record? Each question has a function of its own, as the answers differ. All of them go by the
 * stored verdict without the beacon, which may know of a newer one: see `latestVerdict`.
 *
 *                       state       no agent  never judged  UP   DEGRADED                confirmed off
 *  {@link isUpByRecord}     Discovered  no        no            yes  no                      not asked
 *  {@link answersForItsWork}  Discovered  no        yes           yes  yes                     no
 *  {@link isReachable}      Discovered  yes       no            yes  not by its management   no
 *  {@link isHeardByRecord}  not asked   not asked no            yes  yes                     not asked
 */

/** Heard on all its networks: that it falls silent will prove something, as a drill wants it. */
export const isUpByRecord = (n: Pick<NodeRecord, 'enrolled' | 'state' | 'verdict'>): boolean =>
  n.enrolled && n.state === 'Discovered' && n.verdict?.verdict === 'UP';

/**
 * Nothing says that it may be dying or off, so that its own report tells what runs there: else its workloads are the
 * business of its incident. One that no detector has judged yet counts.
 */
export const answersForItsWork = (n: NodeRecord): boolean =>
  shouldReport(n) && n.state === 'Discovered' && (n.verdict === undefined || isHeardVerdict(n.verdict.verdict));

/** Heard, and ssh has a way there. A node without an agent is known by what external monitors say. */
export function isReachable(n: NodeRecord): boolean {
  if (n.state !== 'Discovered' || n.confirmedOff !== undefined) return false;
  if (!n.enrolled) return true;
  const v = n.verdict;
  return v?.verdict === 'UP' || (v?.verdict === 'DEGRADED' && !v.networks.includes(MANAGEMENT));
}

/** Somebody hears it, on one network at least, whatever its state says: a proof of off does not fit to that. */
export const isHeardByRecord = (n: Pick<NodeRecord, 'verdict'>): boolean => isHeardVerdict(n.verdict?.verdict);

/** By this verdict somebody hears it, on one network at least. */
export const isHeardVerdict = (verdict: VerdictKind | undefined): boolean => verdict === 'UP' || verdict === 'DEGRADED';
