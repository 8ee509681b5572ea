import {
  identityBasis,
  type NodeRecord,
  type PowerDevice,
  type RunningWorkload,
  type WorkloadRecord,
} from '#contracts';

/** Workloads of each node. */
export const PER_NODE = 10;
const GENERATION = 1;
const GROUP = 'service-worker';

const namesOf = (node: string): string[] => Array.from({ length: PER_NODE }, (_, i) => `work-${node}-${i + 1}`);

/** What the reports of a node say runs there. */
export const runningOn = (node: string): RunningWorkload[] =>
  namesOf(node).map((name) => ({ name, generation: GENERATION, gated: true }));

/** Workloads that run on a node, as they are stored once nothing is owed: the boot is that in which they were seen. */
export const workloadsOf = ({ name: node, bootId }: NodeRecord): WorkloadRecord[] =>
  namesOf(node).map((name) => ({
    name,
    desired: 'running',
    priority: 0,
    weight: 1,
    hostGroup: GROUP,
    recovery: { driver: 'ansible', spec: { exec: `/usr/bin/${name}` } },
    generation: GENERATION,
    assignment: { node, generation: GENERATION },
    ...(bootId !== undefined && { boot: bootId }),
  }));

/** A node that was set up, and whose power device is known to be its own. @param nth unique; @param at wall clock, ms */
export function allocated(n: NodeRecord, nth: number, at: number): NodeRecord {
  const address = `10.99.${Math.floor(nth / 250)}.${(nth % 250) + 1}`;
  const bmc: PowerDevice = { id: 'bmc', driver: 'ipmitool', address, username: 'muster', secret: `bmc-${n.name}` };
  const guid = nth.toString(16).padStart(32, '0');
  const seen = { guid, boardSerial: `board-${nth}` };
  return {
    ...n,
    hostGroup: GROUP,
    status: 'Allocated',
    prevStatus: 'Provisioning',
    powerLevels: [[bmc]],
    powerIdentity: { bmc: { result: 'proven', by: 'guid', at, seen, basis: identityBasis(bmc) } },
    hardware: { systemUuid: guid, bmcGuid: guid, boardSerial: seen.boardSerial, at },
    provisioned: { checksum: 'bench', at, job: 'bench', services: ['base'] },
  };
}
