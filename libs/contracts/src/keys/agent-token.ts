/** Whoever finds a token may register nodes with it: so it is for one host where nobody asks for more. */
export const AGENT_TOKEN_USES = 1;

/** With it hosts enrol themselves; whoever has it may register nodes, and nothing else. */
export interface AgentToken {
  id: string;
  by: string;
  createdAt: number;
  expiresAt: number;
  /** Nodes that may be enrolled with it. @default {@link AGENT_TOKEN_USES} */
  uses: number;
  /** Nodes that were. One that is enrolled again does not count again. */
  usedBy: string[];
}

/** Value of bucket `settings` under {@link agentTokenKey}. */
export interface StoredAgentToken extends AgentToken {
  /** Of the token, hex. */
  sha256: string;
}
export const AGENT_TOKEN_PREFIX = 'agent-token=';
export const agentTokenKey = (id: string): string => `${AGENT_TOKEN_PREFIX}${id}`;

/** Whoever was let in as this node's agent until then is shut out for good, whatever becomes of the node's record. */
export interface AgentRevocation {
  node: string;
  by: string;
  /** Wall clock, ms. */
  at: number;
  reason: string;
}

/** Key of bucket `settings`. */
export const AGENT_REVOCATION_PREFIX = 'agent-revoked=';
export const agentRevocationKey = (node: string): string => `${AGENT_REVOCATION_PREFIX}${node}`;

/** A NATS user that was issued to an agent: good as long as its node's record names it (`agentKeys`). */
export interface AgentUser {
  /** Public key. */
  key: string;
  node: string;
  at: number;
  /** Wall clock: since then NATS refuses it. */
  revoked?: number;
}

/** Key of bucket `settings`. */
export const AGENT_USER_PREFIX = 'agent-user=';
export const agentUserKey = (key: string): string => `${AGENT_USER_PREFIX}${key}`;
