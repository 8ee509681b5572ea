import {
  defaultSettings,
  type Beacon,
  type ClusterSettings,
  type NodeRecord,
  type OwnProbe,
  type PowerDevice,
  type Report,
  type Verdict,
} from '#contracts';
import { aNode as healthyNode } from '#contracts/testing/a-node.js';

export { aWorkload } from '#contracts/testing/a-workload.js';
export { anIncident } from '#contracts/testing/an-incident.js';

/** Records for specs: a healthy fleet, from which each spec takes away what it is about. */

export const aDevice = (id = 'bmc'): PowerDevice => ({ id, driver: 'ipmitool', address: '127.0.0.1', port: 9001 });

/** On both networks, with a power device, and of a known boot. */
export const aNode = (name: string, o: Partial<NodeRecord> = {}): NodeRecord =>
  healthyNode(name, {
    networks: { management: { address: `10.0.0.${name.length}` }, backend: { address: `10.0.1.${name.length}` } },
    powerLevels: [[aDevice()]],
    bootId: `boot-${name}`,
    ...o,
  });

/** What a detector sees of a host whose ssh it has seen to answer, and that is dead. */
export const anOwnProbe = (o: Partial<OwnProbe> = {}): OwnProbe => ({
  echo: [],
  ssh: 'silent',
  icmp: 'silent',
  port: 'silent',
  agentPort: 'silent',
  by: 'detector-1',
  spoke: ['ssh'],
  ageMs: 10,
  ...o,
});

/** Of an agent that is well, in the node's own boot, and sees nobody else. */
export const aReport = (node: string, o: Partial<Report> = {}): Report => ({
  ...{ v: 1, node, bootId: `boot-${node}`, epoch: 1, seq: 1 },
  ...{ listVersion: 1, networks: ['management', 'backend'], peers: [] },
  health: { abstain: false, sendErrors: {}, loopGapMs: 0 },
  ...o,
});

export const aBeacon = (o: Partial<Beacon> = {}): Beacon => ({
  epoch: 1,
  seq: 1,
  instance: 'detector-1',
  sighted: true,
  members: 3,
  sightedReporters: 3,
  notUp: {},
  ...o,
});

export const aVerdict = (node: string, o: Partial<Verdict> = {}): Verdict => ({
  node,
  verdict: 'DOWN',
  networks: [],
  epoch: 1,
  seq: 1,
  at: 1,
  bootId: `boot-${node}`,
  reason: 'all observers report it down',
  evidence: {
    observers: [],
    assigned: 4,
    accusers: 4,
    members: 5,
    sightedReporters: 4,
    ownReportAgeMs: 3500,
    ownProbe: anOwnProbe(),
  },
  ...o,
});

export const enforced = (o: Partial<ClusterSettings['fencing']> = {}): ClusterSettings => {
  const s = defaultSettings('lab');
  return { ...s, fencing: { ...s.fencing, mode: 'enforce', ...o } };
};
