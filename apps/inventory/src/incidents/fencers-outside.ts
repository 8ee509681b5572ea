import { runsOnNode, type NodeRecord, type WorkerRecord } from '#contracts';

/** How many of these live workers are fencers that would survive this node's power-off. */
export const fencersOutside = (live: readonly WorkerRecord[], node: NodeRecord): number =>
  live.filter((w) => w.service === 'fencer' && !runsOnNode(w, node)).length;
