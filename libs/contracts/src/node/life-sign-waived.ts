import type { HostGroup } from '../settings/host-group.js';
import type { NodeRecord } from './node.js';

/** An admin has said so of the node itself, or of its group. */
export const isLifeSignWaived = (
  n: Pick<NodeRecord, 'hostGroup' | 'lifeSignWaived'>,
  groups: readonly HostGroup[],
): boolean => n.lifeSignWaived !== undefined || groups.some((g) => g.name === n.hostGroup && g.lifeSign === 'none');
