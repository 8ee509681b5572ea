import type { AgentRevocation, NodeRecord } from '#contracts';

/**
 * A user that nobody has noted, and that connects: it was issued before its node's agent was shut out, and comes now.
 * Its record may be gone since, or be a new one.
 */
export const isShutOut = (
  user: { key: string; issuedAt: number },
  revoked: Pick<AgentRevocation, 'at'> | undefined,
  record: NodeRecord | undefined,
): boolean => revoked !== undefined && user.issuedAt <= revoked.at && isWorthless(user.key, record);

/** Users that no record names: of nodes that were revoked, deleted or replaced, and those that were issued long ago. */
export const isWorthless = (key: string, record: NodeRecord | undefined): boolean =>
  record?.agentKeys?.includes(key) !== true;

/** What a record says of its node's last revocation is kept beside the record only in an earlier form, or not at all. */
export const isUnkept = (
  revoked: Pick<AgentRevocation, 'at'>,
  kept: Pick<AgentRevocation, 'at'> | undefined,
): boolean => kept === undefined || kept.at < revoked.at;
