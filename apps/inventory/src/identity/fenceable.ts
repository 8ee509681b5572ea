import { identityStanding, provenIdentity, type FenceableView, type NodeRecord } from '#contracts';

/** Would a verdict alone power it off? */
export const isToBeFenced = (n: NodeRecord): boolean =>
  n.enrolled && n.fencing === 'auto' && n.cordon === undefined && n.status === 'Allocated';

/** @param sharesPlace a device of the node is where another node has its own */
export function fenceableView(nodes: readonly NodeRecord[], sharesPlace: (n: NodeRecord) => boolean): FenceableView {
  const view: FenceableView = { proven: 0, unproven: 0, drilled: 0, mismatch: [] };
  for (const n of nodes) {
    const devices = n.powerLevels.flat();
    if (devices.length === 0 || !isToBeFenced(n)) continue;
    if (sharesPlace(n) || devices.some((d) => identityStanding(n, d) === 'mismatch')) view.mismatch.push(n.name);
    else if (!devices.every((d) => identityStanding(n, d) === 'proven')) view.unproven++;
    else {
      view.proven++;
      if (devices.some((d) => provenIdentity(n, d)?.by === 'drill')) view.drilled++;
    }
  }
  return view;
}
