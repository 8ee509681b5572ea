import type { Finding, NodeResult } from '../job/job.js';
import type { Remedy } from '../remedies/remedy.js';
import type { DeclaredService } from '../services/service-test.js';
import type { LifeSeen, LifeSignWaived } from '../wire/life-signs.js';
import type { VerdictKind } from '../verdict/verdict.js';
import type { HardwareFacts, PowerIdentity } from '../hardware/power-identity.js';
import type { Networks } from '../addresses/networks.js';
import type { Leaving } from '../wire/report.js';

export const NodeStatuses = [
  'Unallocated',
  'Provisioning',
  'Allocated',
  'Cancelled',
  'Decommissioned',
  'Maintenance',
] as const;
/** Lifecycle of a node. `Provisioning`, `Cancelled` and `Maintenance` are transient: a live job stands behind each. */
export type NodeStatus = (typeof NodeStatuses)[number];

/** Second axis, changes in any status: is the node heard? */
export type NodeState = 'Unknown' | 'Discovered' | 'Disappeared';

/** How a power device is spoken to: those that a fencer carries out. */
export const PowerDrivers: readonly string[] = ['ipmitool'];

export interface PowerDevice {
  /** Unique within the node, e.g. `bmc`. */
  id: string;
  /** One of PowerDrivers. */
  driver: string;
  address: string;
  /** @default 623 */
  port?: number;
  username?: string;
  /** Key in bucket `secrets`; the password itself is never in a record. */
  secret?: string;
  options?: Record<string, string>;
  /** Another node's device may be at the same place, and says so too: one outlet feeds both. An off reaches both. */
  shared?: boolean;
}

/** By an operator, with a reason; never cleared by the system before the end that the operator gave. */
export interface Cordon {
  reason: string;
  by: string;
  at: number;
  /** Wall clock, ms. Absent: until uncordoned. */
  until?: number;
  /** Its workloads are moved away, one by one, and none comes. */
  drain?: boolean;
  /** Wall clock: when the last of its workloads had left, and its agent agreed. */
  drained?: number;
}

/** By the system after fencing or a failed re-setup: cleared when the node's check has passed. */
export interface Maintenance {
  reason: string;
  at: number;
  incident?: string;
}

/** Power was proven off (or confirmed by hand), and nobody has switched the node on or heard a new boot since. */
export interface ConfirmedOff {
  at: number;
  incident: string;
  /** The boot that was ended: a life sign of another boot id clears this. */
  bootId?: string;
}

/** A return that waits for its check: kept until a check (or the re-setup after it) has passed. */
export interface PendingReturn {
  reason: 'disappeared' | 'degraded' | 'rebooted' | 'first-seen';
  at: number;
  /** The job that deals with it now, if any. */
  job?: string;
  /** The check has found something to repair: the next job is the re-setup. */
  next?: 'resetup';
  /** Checks that could not be carried out, one after the other, other than for ssh: tried again for ever. */
  failedTries?: number;
  /** Why the last of them could not. */
  failedWhy?: string;
  /** Tries of its check with which ssh did not get to the node, one after the other: tried again for ever. */
  unreached?: { tries: number; why: string };
  /** What the check has found, for as long as its re-setup is due. */
  found?: string;
  /** Services that this re-setup is for, where they may be set up by themselves. @default all of the node */
  only?: string[];
  /** Stopped: waits for an operator (`drift`, `flapping`, `ask`). */
  held?: string;
  /** Held for what runs there: once nothing does any more, the node is checked anew, without an operator. */
  heldBy?: 'work';
}

/** What the last successful provisioning put on the node. */
export interface Provisioned {
  /** Checksum over the effective configuration: rendered templates, merged vars, host group. */
  checksum: string;
  at: number;
  job: string;
  /** Services that it told of: a check must tell of each of them. Absent: it was recorded by a Muster that did not. */
  services?: string[];
}

/** What the last check or set-up has found of a service of the node. */
export interface ServiceFinding extends Partial<DeclaredService> {
  result: Finding['result'];
  /** Empty when ok. */
  why: string;
  /** Since when each of them has found the same result: wall clock, ms. */
  since: number;
}

/** Findings of the last check, or site run, of a node that could be carried out. */
export interface NodeFindings {
  at: number;
  job: string;
  services: Record<string, ServiceFinding>;
}

/** What the last check of a node has told, whoever asked for it. Gone when the node is set up again. */
export interface LastCheck extends Pick<NodeResult, 'ok' | 'step' | 'message' | 'unreachable' | 'check'> {
  /** Wall clock, ms: when it was carried into the record. */
  at: number;
  job: string;
  /** Checks in a row, this one counted, that could not be carried out. @default 0 */
  failed?: number;
}

/**
 * An operator's word that a drift is wanted. It holds for exactly what a check had found, under exactly that effective
 * configuration, until its end, or until the node is set up again.
 */
export interface AcceptedDrift {
  reason: string;
  by: string;
  at: number;
  /** Wall clock, ms. @default no end */
  until?: number;
  /** The job of the check that found it. */
  check: string;
  /** Of the effective configuration that the check told: under another one nothing of this holds. */
  checksum: string;
  /** Each with result `drift`. */
  findings: Finding[];
  /** That configuration is another one than was provisioned last, and this is wanted, too. */
  configuration?: true;
}

export interface NodeRecord {
  name: string;
  label: string;
  serial: string;
  hostGroup?: string;
  /** @default 'default' */
  failureDomain: string;
  networks: Networks;
  /** Fencing levels in order; every device of a level must be off. */
  powerLevels: PowerDevice[][];
  /** Whether its devices are its own, by their id; read by `knownIdentity` only. Absent: nothing is known. */
  powerIdentity?: Record<string, PowerIdentity>;
  /** What the machine last said of itself from within. */
  hardware?: HardwareFacts;
  /** @default 'ansible' */
  provisionDriver: string;
  vars: Record<string, unknown>;
  /** @default 'auto' */
  fencing: 'auto' | 'manual';
  /** Runs a Muster agent: a member of M, watched, may be judged. Others are known by what external monitors say. */
  enrolled: boolean;
  /** An agent was issued for it, and has not been there yet: it is enrolled when that asks for its peers. */
  awaited?: true;
  status: NodeStatus;
  prevStatus: NodeStatus | 'Incomplete';
  state: NodeState;
  prevState: NodeState;
  cordon?: Cordon;
  maintenance?: Maintenance;
  confirmedOff?: ConfirmedOff;
  pendingReturn?: PendingReturn;
  provisioned?: Provisioned;
  /** Gone with what was set up; each `unknown` after a job that failed halfway. */
  findings?: NodeFindings;
  lastCheck?: LastCheck;
  acceptedDrift?: AcceptedDrift;
  /** Boot id that was last accepted as this node's running system. */
  bootId?: string;
  /** The verdict last applied to this record, in (epoch, seq) order. */
  verdict?: {
    verdict: VerdictKind;
    networks: string[];
    epoch: number;
    seq: number;
    at: number;
    bootId?: string;
    /** One sentence of the detector. */
    reason?: string;
    /** Its agent's last word was that it goes, and why. */
    left?: Leaving['kind'];
  };
  /** By observer (instance of a detector, or node): the channels by which this host has shown that it lives. */
  lifeSeen?: Record<string, LifeSeen>;
  /** It may be powered off although no channel could show that its host lives. */
  lifeSignWaived?: LifeSignWaived;
  /**
   * Workloads that a boot of it may start without asking, sorted; the first hundred: they ran here, and its agent did not
   * vouch for a start gate. One leaves when it runs here with a gate, when Muster has stopped it here, or with the
   * workload itself; never since it is not reported any more. Absent: none. The system does not power it on while there
   * are any: a boot would start them a second time.
   */
  ungated?: string[];
  /** Wall-clock times of the system's own power-ons: one in 24 h, then the node stays off. */
  poweredOnAt?: number[];
  /** What an external monitor said last of a node that runs an agent: shown, never judged by. */
  external?: { event: 'discovered' | 'disappeared'; address: string; at: number };
  /** Public keys of its sshd, as in known_hosts without the name: pinned at first contact, cleared by an operator only. */
  sshHostKeys?: string[];
  /** Tells its installation from another with the same name: see `machineOf`. */
  machine?: string;
  /** Serial number that its mainboard has shown, as in a name; `serial` may have been typed in. */
  productSerial?: string;
  /** Public keys of the NATS users of its agent, the latest last: others than these are refused. */
  agentKeys?: string[];
  /** Its agent was shut out: it is no member, and comes back only by being enrolled again. */
  revoked?: { by: string; at: number; reason: string };
  /** While a job changes the host group: the one before, '' for none. A job that never began leaves the node there. */
  hostGroupWas?: string;
  /** Status whose job results were rolled into this record last; makes the roll-forward idempotent. */
  lastJob?: string;
  createdAt: number;
}

/** Why a node is out of service; computed at every read, never stored. */
export interface OutReason {
  code:
    | 'STATUS'
    | 'STATE'
    | 'CORDONED'
    | 'MAINTENANCE'
    /** A network of it is silent, and the policy for that is more than an alarm. */
    | 'DEGRADED'
    | 'INCIDENT'
    /** An operator ordered its system to shut down, and it runs the same boot still. */
    | 'SHUTS_DOWN'
    | 'PENDING_RETURN'
    | 'RESERVED'
    | 'NO_PROVISION_WORKER'
    | 'NO_POWER_WORKER'
    | 'VIEW_STALE';
  detail: string;
  /** What brings it back; in the answer for one node, not in lists. */
  remedy?: Remedy;
}

/** A node as answered to readers: the record plus what is computed. */
export interface NodeView extends NodeRecord {
  revision: number;
  inService: boolean;
  reasons: OutReason[];
  job?: string;
  /** The claim that holds it. */
  claim?: string;
  /** Of a node that is being drained: the workloads that are still assigned to it. */
  remaining?: string[];
}
