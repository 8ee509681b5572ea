import { runsOnNode, type NodeRecord, type WorkerRecord } from '#contracts';
import { isOwnHost, type OwnHost } from './own-host.js';

type Named = Pick<NodeRecord, 'name' | 'label' | 'networks'>;

/** A node whose power waits for a fencer, and the drivers that it takes. */
export interface Waiting {
  node: Named;
  drivers: readonly string[];
}

export interface Me {
  id: string;
  host: OwnHost;
  /** It can be started here, as far as is known. */
  works: (driver: string) => boolean;
}

/**
 * Whether this fencer leaves the lease to another: one lives that can do all that this one can, and something that this
 * one cannot, since a driver does not start here or it is its own host that waits. Never do two of them stand back each
 * for the other; where none can do more, it goes on for the others' sake.
 */
export function standsBack(
  me: Me,
  waiting: readonly Waiting[],
  workers: readonly Pick<WorkerRecord, 'service' | 'id' | 'host' | 'addresses' | 'drivers' | 'failing'>[],
): boolean {
  const mine = waiting.filter((w) => !isOwnHost(w.node, me.host) && w.drivers.every(me.works));
  if (mine.length === waiting.length) return false;
  return workers.some((other) => {
    if (other.service !== 'fencer' || other.id === me.id) return false;
    const works = (driver: string): boolean =>
      other.drivers.includes(driver) && other.failing?.includes(driver) !== true;
    const theirs = waiting.filter((w) => !runsOnNode(other, w.node) && w.drivers.every(works));
    return theirs.length > mine.length && mine.every((w) => theirs.includes(w));
  });
}
