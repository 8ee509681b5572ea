import type { KeysInUse } from './datagram-key-set.js';
import type { DetectionSettings } from '../settings/settings.js';

export interface Peer {
  name: string;
  /** Address per network; the agents' port is the cluster's. */
  networks: Record<string, string>;
}

/** Answer to an agent's plain request on `muster.peers.<node>`. Cached by the agent on disk. */
export interface PeerList {
  /** Revision-like, grows with every change of membership, addresses or settings. */
  version: number;
  cluster: string;
  self: Peer;
  /** Whom this agent probes: everybody else while the fleet is small, its ring neighbours beyond that. */
  peers: Peer[];
  /** UDP port of every agent. */
  port: number;
  detection: DetectionSettings;
  /** By what the fleet proves its datagrams. Absent: by the keys that each was enrolled with. */
  keys?: KeysInUse;
  /**
   * The servers of NATS as this node reaches them, by network, each `nats://host:port`. Absent: those that each was
   * enrolled with.
   */
  nats?: Record<string, string[]>;
}

/** Plain request of an agent on `muster.gate.<node>`. */
export interface GateRequest {
  workload: string;
  /** Boot that asks: another one than the node's accepted one starts nothing, nor does one that is not named. */
  bootId?: string;
  /** For which the unit was made that asks. Absent: whichever is current. */
  generation?: number;
}

/** `allowed` only where the registry, read live, assigns the workload to this very node and it shall run. */
export interface GateAnswer {
  allowed: boolean;
  generation?: number;
  reason: string;
}
