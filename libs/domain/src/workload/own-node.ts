import type { NodeRecord } from '#contracts';
import { isHeardByRecord } from '../verdict/heard.js';

/** How much of the fleet serves. */
export interface Serving {
  /** Nodes that are Allocated. */
  members: number;
  inService: number;
}

/** It is heard, and only its return has still to be checked: nobody has to decide anything. */
export const isOnItsWay = (n: Pick<NodeRecord, 'pendingReturn' | 'cordon' | 'verdict'>): boolean =>
  n.pendingReturn !== undefined && n.pendingReturn.held === undefined && n.cordon === undefined && isHeardByRecord(n);

/**
 * Less than half of the fleet serves, as after a restart of all of it. What was lost with a reboot waits then for its own
 * node while that is on its way: else the first nodes in service would get the work of all.
 */
export const isMassReturn = ({ members, inService }: Serving): boolean => 2 * inService < members;
