import { isOpenIncident, type IncidentRecord, type Report, type WorkloadRecord } from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';

/** Reports that were on their way when the power went off are no sign of life, ms. */
const ON_THE_WAY_MS = 1_000;

/**
 * The very boot that was proven off, or that a person vouched for, speaks: the power device is another machine's, or
 * the person erred. Nothing that it ran may be started anywhere.
 * @param provenForMs since this process first saw the proof
 * @param heard the node's last report
 */
export function isContradicted(
  i: Pick<IncidentRecord, 'phase' | 'bootId'>,
  provenForMs: number,
  heard: { bootId: string; agoMs: number } | undefined,
): boolean {
  if (!isAfterOff(i) || heard === undefined || i.bootId === undefined) return false;
  return heard.bootId === i.bootId && heard.agoMs < provenForMs - ON_THE_WAY_MS;
}

/** Its proof of off was contradicted, and what came of that is not settled: nothing more of it is started. */
export const isVoid = (i: Pick<IncidentRecord, 'phase' | 'contradiction'>): boolean =>
  i.contradiction !== undefined && isOpenIncident(i) && !isAfterOff(i);

/** A workload that a node runs although it belongs to another one. */
export interface Double {
  workload: string;
  on: string;
  assigned: string;
  /** Its start gate may still refuse it: after a boot it does so as soon as its agent has read whose the workload is. */
  starting: boolean;
}

/**
 * What runs where it is not assigned, by the nodes' own fresh reports. A start that is owed is looked at before it is
 * given, and the registry corrected: of the others somebody must be told.
 */
export const doublesOf = (
  workloads: readonly WorkloadRecord[],
  fresh: readonly Pick<Report, 'node' | 'workloads'>[],
): Double[] =>
  workloads.flatMap((w) => {
    const at = w.assignment?.node;
    if (at === undefined || w.start !== undefined) return [];
    return fresh.flatMap((r) => {
      const run = r.node === at ? undefined : r.workloads?.find(({ name }) => name === w.name);
      return run === undefined ? [] : [{ workload: w.name, on: r.node, assigned: at, starting: run.starting === true }];
    });
  });
