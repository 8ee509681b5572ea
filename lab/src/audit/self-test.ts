import type { IncidentRecord, NodeRecord, WorkloadRecord } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { findViolations, ViolationKinds, type Evidence, type Violation, type ViolationKind } from './checks.js';
import { historyOf, type Beat } from './ledger.js';

const S = 1e9;
const beats = (host: string, boot: string, fromS: number, toS: number): Beat[] =>
  Array.from({ length: Math.round((toS - fromS) * 20) + 1 }, (_, i) => ({
    workload: 'w1',
    host,
    boot,
    ns: (fromS + i / 20) * S,
  }));

const workload: WorkloadRecord = {
  name: 'w1',
  desired: 'running',
  priority: 0,
  weight: 1,
  recovery: { driver: 'ansible', spec: {} },
  assignment: { node: 'h2-1', generation: 2 },
  generation: 2,
};

const incident = (over: Partial<IncidentRecord> = {}): IncidentRecord => ({
  id: 'i1',
  node: 'h1-1',
  phase: 'closed',
  cause: 'auto',
  reason: 'DOWN',
  openedAt: 0,
  updatedAt: 0,
  gates: [],
  conductor: 1,
  epoch: 4,
  level: 0,
  attempt: 1,
  commands: [{ n: 1, epoch: 4, fencer: 'f', level: 0, device: 'bmc', verb: 'off', at: 13_900, endedAt: 14_200 }],
  proof: { kind: 'read-back', at: 14_500 },
  recovery: [],
  steps: [],
  ...over,
});

/** A story without fault: w1 runs on h1, h1 dies at 10 s, is off and read back at 14 s, w1 runs on h2 from 17 s. */
export function clean(): Evidence {
  return {
    nodeOf: { h1: 'h1-1', h2: 'h2-1' },
    powered: { h1: true, h2: true },
    workloads: [workload],
    histories: historyOf([...beats('h1', 'a', 0, 10), ...beats('h2', 'b', 17, 30)]),
    nowNs: 30 * S,
    nowAt: 30_000,
    boots: [
      { host: 'h1', boot: 'a', ns: -1 * S },
      { host: 'h2', boot: 'b', ns: -1 * S },
    ],
    bmc: [
      { host: 'h1', op: 'set', what: 'power', value: '0', ns: 14 * S, at: 14_000 },
      { host: 'h1', op: 'get', what: 'power', value: '0', ns: 14.2 * S, at: 14_200 },
      { host: 'h1', op: 'get', what: 'power', value: '0', ns: 14.5 * S, at: 14_500 },
    ],
    nodes: [aNode('h1-1'), aNode('h2-1')],
    incidents: [incident()],
    cutBefore: {},
    jobs: [],
    reservations: { held: {}, pending: {}, generation: 1 },
    leaked: [],
    secretsIn: [],
  };
}

/** One planted fault of each kind. */
const plants: Record<ViolationKind, (e: Evidence) => void> = {
  WORKLOAD_TWICE: (e) => {
    e.histories = historyOf([...beats('h1', 'a', 0, 17.5), ...beats('h2', 'b', 17, 30)]);
  },
  WORKLOAD_NOWHERE: (e) => {
    e.histories = historyOf([...beats('h1', 'a', 0, 10), ...beats('h2', 'b', 17, 20)]);
  },
  WORKLOAD_ON_POWERED_OFF_NODE: (e) => {
    e.powered['h2'] = false;
  },
  TWO_OPEN_INCIDENTS: (e) => {
    e.incidents.push(
      incident({ id: 'i2', phase: 'open', commands: [] }),
      incident({ id: 'i3', phase: 'open', commands: [] }),
    );
  },
  BMC_WRITE_WITHOUT_INTENT: (e) => {
    e.bmc.push({ host: 'h2', op: 'set', what: 'power', value: '0', ns: 29 * S, at: 29_000 });
  },
  EPOCH_WENT_BACK: (e) => {
    e.incidents[0]?.commands.push({ n: 2, epoch: 3, fencer: 'g', level: 0, device: 'bmc', verb: 'status', at: 14_300 });
  },
  STARTED_BEFORE_PROOF: (e) => {
    e.bmc.pop();
  },
  RESERVATION_LEFT: (e) => {
    e.reservations.held['h2-1'] = { job: 'j1', generation: 1, at: 0 };
  },
  TRANSIENT_STATUS_LEFT: (e) => {
    (e.nodes[1] as NodeRecord).status = 'Provisioning';
  },
  PROCESS_LEAKED: (e) => {
    e.leaked.push('4711 ipmitool -I lanplus chassis power off');
  },
  SECRET_SHOWN: (e) => {
    e.secretsIn.push('log/fencer-1.log');
  },
};

export interface SelfTest {
  ok: boolean;
  /** What the audit says of a story without fault: must be empty. */
  clean: Violation[];
  /** Kinds that were planted, and whether the audit reported them. */
  planted: { kind: ViolationKind; reported: boolean }[];
}

/** Proves that the audit can fail: a clean story passes, and each planted violation is reported as what it is. */
export function selfTest(): SelfTest {
  const found = findViolations(clean());
  const planted = ViolationKinds.map((kind) => {
    const e = clean();
    plants[kind](e);
    return { kind, reported: findViolations(e).some((v) => v.kind === kind) };
  });
  return { ok: found.length === 0 && planted.every((p) => p.reported), clean: found, planted };
}
