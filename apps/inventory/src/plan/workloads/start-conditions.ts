import type { WorkloadRecord } from '#contracts';
import { waitKey } from '#domain/workload/owed-start.js';
import type { SeenElsewhere } from '#domain/workload/where-it-runs.js';
import type { ProvenCondition } from '../power/contradicted.js';

/**
 * What decides by its age on an owed start. `left`: a node that the workload has left still names it. `word`: a node does
 * not say what it runs. `retry`: the try before has failed. `node`: its own node is out of service. `gate`: another node is
 * only starting it.
 */
export type OwedCondition = `${'left' | 'word' | 'retry' | 'node' | 'gate'}/${string}`;

/** A workload that runs, or is being started, on a node that it is not assigned to. */
export type DoubleCondition = `double/${string}/${string}` | `double/${string}/${string}/running`;

export type StartCondition = ProvenCondition | OwedCondition | DoubleCondition;

export const left = ({ name }: WorkloadRecord): OwedCondition => `left/${name}`;
export const word = (w: WorkloadRecord): OwedCondition => `word/${w.name}/${w.assignment?.generation}`;
export const retry = (w: WorkloadRecord): OwedCondition =>
  `retry/${w.name}/${w.assignment?.generation}/${w.start?.attempt}`;
export const atGate = ({ name }: WorkloadRecord, { node }: SeenElsewhere): OwedCondition => `gate/${name}/${node}`;
/** A reboot keeps the generation, and each one has its own wait. */
export const awaitsNode = (w: WorkloadRecord): OwedCondition => waitKey(w);
