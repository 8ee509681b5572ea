import type { Networks } from '../addresses/networks.js';

/** What a new agent is started with. Secret: it goes to the node and nowhere else. */
export interface AgentEnrolment {
  node: string;
  cluster: string;
  agentPort: number;
  /** NATS user of this node's agent; `ca`: PEM, by which it knows the servers, where NATS speaks TLS. */
  credentials: { user: string; seed: string; jwt: string; ca?: string };
  /** Keys of the agents' datagrams, hex, the first signs. */
  datagramKeys: string[];
  /** As on record: the agent listens on each. */
  networks: Networks;
}

/** What a host is told that has enrolled itself. Secret, as {@link AgentEnrolment} is. */
export interface AgentAdmission extends AgentEnrolment {
  /** Where its agent reaches NATS, by network. */
  nats: Record<string, string[]>;
}
