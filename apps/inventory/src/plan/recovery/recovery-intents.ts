import type { IncidentRecord, NodeRecord, ProofDoubt } from '#contracts';
import { drilled } from '../../power/drill.js';
import { doubted, hasOtherDevices, undoubted } from '../../power/proof-doubt.js';
import { notOff, voided } from '../../power/void-proof.js';
import type { ChangeIncident, ChangeJob, ChangeNode, ChangeWorkload, NodeFirst } from '../intent.js';
import { conducted } from '../conducted.js';
import { collateralNoted, drillJudged, type CollateralNews, type Judged } from './proof-step.js';
import { endedBoot, proofBoots, type BootFacts } from './ended-boot.js';
import { closed, powerOnCounted, uncountedPowerOn } from './recovery-end.js';
import { calledBack, jobOnItsWay, mayBegin, mayTake, recovering } from './recovery-start.js';
import { switchedOff } from './switched-off.js';

const ofNode = ({ node }: IncidentRecord): Pick<ChangeNode, 'do' | 'key' | 'about'> => ({
  ...{ do: 'change-node', key: node, about: { node } },
});
const ofIncident = ({ node, id }: IncidentRecord): Pick<ChangeIncident, 'do' | 'key' | 'id' | 'about'> => ({
  ...{ do: 'change-incident', key: node, id, about: { node } },
});
const nodeFirst = ({ node }: IncidentRecord): Pick<NodeFirst, 'do' | 'about'> => ({
  ...{ do: 'node-first', about: { node } },
});

/**
 * Maintenance and the proof go into the node's record first: from then on nothing is placed there. What runs there is
 * read after it, in full: a workload that was assigned a moment before must not be missed. A crash in between leaves a
 * node that is marked as off and an incident that is still fenced, from which the next one begins again. Where the node
 * has booted by then, or had before the mark, its work is part of the incident, and stays with it. Where its device was
 * found to be another machine's meanwhile, or a new boot of it speaks, neither is written.
 */
export const begin = (i: IncidentRecord, boots: BootFacts): NodeFirst => ({
  ...nodeFirst(i),
  reason: 'Its power is proven off.',
  node: {
    ...ofNode(i),
    reason: 'Its power is proven off.',
    told: 'fenced',
    decide: (n, { fleet }) =>
      mayBegin(i, n, fleet) ? switchedOff(n, i, proofBoots(i, n, boots), fleet.wallMs) : undefined,
  },
  incident: (found) => ({
    ...ofIncident(i),
    reason: 'Its power is proven off.',
    reads: { workloads: true },
    decide: (now, by) =>
      mayBegin(now, found, by.fleet) ? recovering(now, i.proof, by, endedBoot(i, found, boots)) : undefined,
    // A crash before all of them are taken: who follows the recovery takes the others.
    followedBy: ({ recovery }) => recovery.map((r) => clearAssignment(i, r.workload)),
  }),
});

/** Before anything is made of it: it outlives the process that knows it. */
export const doubt = (i: IncidentRecord, provenAt: number, by: Omit<ProofDoubt, 'at'>): ChangeIncident => ({
  ...ofIncident(i),
  reason: 'Something speaks against its proof of off.',
  decide: (now, at) => conducted(now, at, doubted(now, provenAt, { at: at.fleet.wallMs, ...by })),
  log: { level: 'warn', facts: { node: i.node, incident: i.id, ...by }, message: 'its proof of off is in doubt' },
});

export const endDoubt = (i: IncidentRecord, over: ProofDoubt): ChangeIncident => ({
  ...ofIncident(i),
  reason: 'The boot that it is about has ended.',
  decide: (now, at) => conducted(now, at, undoubted(now, over, at.fleet.wallMs)),
});

/**
 * First the node, which is not off and whose devices are in doubt; then nothing is recovered on that proof any more. A
 * crash in between leaves a proof whose doubt is on record, and devices that are blamed: by these it is void for who comes
 * next, too, where the node is silent by then.
 */
export const voidProof = (i: IncidentRecord): NodeFirst => ({
  ...nodeFirst(i),
  reason: 'Its proof of off proves nothing.',
  node: {
    ...ofNode(i),
    reason: 'It is not off, and its devices are in doubt.',
    decide: (n, { fleet }) => notOff(n, i, fleet.wallMs),
  },
  incident: (found: NodeRecord | undefined) => ({
    ...ofIncident(i),
    reason: 'Its proof of off proves nothing.',
    decide: (now, at) => conducted(now, at, voided(now, found, at.fleet.wallMs)),
    log: { level: 'error', facts: { node: i.node, incident: i.id }, message: 'its proof of off is void' },
  }),
});

/**
 * First what it says of the devices. A crash in between leaves a drill that is judged again; so does an edit of the devices
 * that came before the node was written.
 */
export const judge = (i: IncidentRecord, drill: Judged): NodeFirst => ({
  ...nodeFirst(i),
  reason: drill.detail,
  node: { ...ofNode(i), reason: drill.detail, decide: (n, { fleet }) => drilled(n, i, drill, fleet.wallMs) },
  incident: (found) => ({
    ...ofIncident(i),
    reason: drill.detail,
    decide: (now, at) => (drill.ok && hasOtherDevices(now, found) ? undefined : drillJudged(now, drill, at)),
  }),
});

export const noteCollateral = (i: IncidentRecord, news: CollateralNews): ChangeIncident => ({
  ...ofIncident(i),
  reason: 'What its off may have hit has changed.',
  decide: (now, at) => collateralNoted(now, news, at),
});

/**
 * Clears the assignment, and calls back a start or stop that was on its way to the dead node. Only while the node's record,
 * read anew, says that it is off by this incident: what runs in a later boot, or what that starts late and without asking,
 * would run twice. A crash in between leaves that job: the generation has grown, and whoever carries it out is refused.
 */
export const clearAssignment = (i: IncidentRecord, workload: string): ChangeWorkload => ({
  ...{ do: 'change-workload', key: workload, about: { workload }, told: 'cleared' },
  reason: `The power of ${i.node} is proven off.`,
  reads: { nodes: [i.node] },
  decide: (_now, { fleet }) => (mayTake(i, fleet) ? { kind: 'cleared', from: i.node } : undefined),
  followedBy: (_taken, _at, was) => {
    const job = jobOnItsWay(was, i.node);
    return job === undefined ? [] : [callBack(job, workload)];
  },
});

const callBack = (job: string, workload: string): ChangeJob => ({
  ...{ do: 'change-job', key: job, about: { workload } },
  reason: 'Its node is powered off.',
  decide: (now, { fleet }) => calledBack(now, fleet.wallMs),
});

export const follow = (i: IncidentRecord, decide: ChangeIncident['decide']): ChangeIncident => ({
  ...ofIncident(i),
  reason: 'Its workloads have gone on.',
  // The power-on that comes of it goes by the node's record as it is.
  reads: { nodes: [i.node] },
  decide,
});

export const countPowerOn = (i: IncidentRecord, requestedAt: number): ChangeNode => ({
  ...ofNode(i),
  reason: 'It is to be powered on, once in 24 h.',
  decide: (n) => (uncountedPowerOn(i, n) === undefined ? undefined : powerOnCounted(n, requestedAt)),
});

export const close = (i: IncidentRecord, why: string): ChangeIncident => ({
  ...ofIncident(i),
  reason: why,
  reads: { nodes: [i.node] },
  // A power-on that is not counted yet would be forgotten with the incident.
  decide: (now, at) => {
    const node = at.fleet.nodes.get(now.node)?.value;
    return node !== undefined && uncountedPowerOn(now, node) !== undefined ? undefined : closed(now, at);
  },
});
