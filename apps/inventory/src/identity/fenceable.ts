import { identityStanding, provenIdentity, type FenceableView, type NodeRecord } from '#contracts';
import { isFencedByVerdict } from '#domain/node/to-be-fenced.js';

/** @param sharesPlace a device of the node is where another node has its own */
export function fenceableView(nodes: readonly NodeRecord[], sharesPlace: (n: NodeRecord) => boolean): FenceableView {
  const view: FenceableView = { proven: 0, unproven: 0, drilled: 0, mismatch: [] };
  for (const n of nodes) {
    const devices = n.powerLevels.flat();
    if (devices.length === 0 || !isFencedByVerdict(n)) continue;
    if (sharesPlace(n) || devices.some((d) => identityStanding(n, d) === 'mismatch')) view.mismatch.push(n.name);
    else if (!devices.every((d) => identityStanding(n, d) === 'proven')) view.unproven++;
    else {
      view.proven++;
      if (devices.some((d) => provenIdentity(n, d)?.by === 'drill')) view.drilled++;
    }
  }
  return view;
}
