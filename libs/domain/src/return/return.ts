import { FLAPPING, MANAGEMENT, type NodeRecord, type PendingReturn, type Verdict } from '#contracts';

export interface ReturnFacts {
  /** How long the node has been DEGRADED(management), ms on the asker's clock; undefined: not known, counts as long. */
  degradedForMs: number | undefined;
  /** A shorter DEGRADED is no absence, ms. */
  holdDown: number;
  /** Wall clock, for the record. */
  at: number;
}

/**
 * Does this sign of life end an absence, so that the node's configuration must be checked before it serves again?
 * Only an Allocated node has a configuration to check: another one changes its state and no more, and one that a job
 * is setting up gets its answer from that job.
 */
export function returnOf(n: NodeRecord, v: Verdict, f: ReturnFacts): PendingReturn | undefined {
  if (n.status !== 'Allocated') return undefined;
  const reason = reasonOf(n, v, f);
  if (reason === undefined) return undefined;
  // An operator's hold for flapping stays: one more return is what it is about.
  if (n.pendingReturn?.held?.startsWith(FLAPPING)) return undefined;
  // The same absence may be told twice (back on the network, then by its boot id): the first notice stays.
  if (n.pendingReturn && reason !== 'rebooted') return undefined;
  return { reason, at: f.at };
}

/** The return alone, without what came of its checks so far. */
export const unanswered = ({ reason, at }: PendingReturn): PendingReturn => ({ reason, at });

/** It came while a job ran: what that job found or did may be about the boot before. */
export const isNewerReturn = (p: PendingReturn | undefined, isOfReturn: boolean): boolean =>
  p !== undefined && !isOfReturn && p.held === undefined;

function reasonOf(n: NodeRecord, v: Verdict, f: ReturnFacts): PendingReturn['reason'] | undefined {
  if (v.verdict !== 'UP' && v.verdict !== 'DEGRADED') return undefined;
  if (v.bootId !== undefined && n.bootId !== undefined && v.bootId !== n.bootId) return 'rebooted';
  if (n.confirmedOff !== undefined) return 'rebooted';
  if (n.state === 'Disappeared') return 'disappeared';
  if (n.bootId === undefined && n.verdict === undefined) return 'first-seen';
  const wasCut = n.verdict?.verdict === 'DEGRADED' && n.verdict.networks.includes(MANAGEMENT);
  if (wasCut && v.verdict === 'UP' && (f.degradedForMs === undefined || f.degradedForMs > f.holdDown))
    return 'degraded';
  return undefined;
}
