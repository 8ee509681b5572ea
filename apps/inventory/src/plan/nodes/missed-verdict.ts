import type { Beacon, NodeRecord } from '#contracts';
import { isNewer } from '#domain/verdict/newer.js';

/**
 * Does the beacon say of this node what its record does not know? Of the ones that are plainly UP it says nothing: a
 * record with another word has missed the verdict, and so has one that counts the node as powered off.
 */
export function hasMissedVerdict(n: NodeRecord, beacon: Pick<Beacon, 'epoch' | 'notUp'>): boolean {
  if (!n.enrolled) return false;
  const told = beacon.notUp[n.name];
  if (told !== undefined) return isNewer({ epoch: beacon.epoch, seq: told.seq }, n.verdict);
  return n.verdict !== undefined && (n.verdict.verdict !== 'UP' || n.confirmedOff !== undefined);
}
