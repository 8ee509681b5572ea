import { MusterError, type NodeRecord, type StoredAgentToken } from '#contracts';

export const hasTokenEnded = (token: Pick<StoredAgentToken, 'expiresAt'>, now: number): boolean =>
  token.expiresAt <= now;

/**
 * The token once `node` was enrolled with it; undefined: it stays as it is.
 * @throws UNAUTHORIZED where it has ended, or as many nodes were enrolled as it is for
 */
export function used(token: StoredAgentToken, node: string, now: number): StoredAgentToken | undefined {
  if (hasTokenEnded(token, now))
    throw new MusterError('UNAUTHORIZED', 'this token has ended: make another with "muster agent token create"');
  if (token.usedBy.includes(node)) return undefined;
  if (token.uses !== undefined && token.usedBy.length >= token.uses)
    throw new MusterError(
      'UNAUTHORIZED',
      `this token is used up (${token.uses}): make another with "muster agent token create"`,
    );
  return { ...token, usedBy: [...token.usedBy, node] };
}

/** As it was before: the node was refused. */
export const unused = (token: StoredAgentToken, node: string): StoredAgentToken => ({
  ...token,
  usedBy: token.usedBy.filter((n) => n !== node),
});

/** A node that was shut out may still hold the token that let it in. @throws FORBIDDEN */
export function refuseRevoked(token: Pick<StoredAgentToken, 'createdAt'>, node: NodeRecord | undefined): void {
  if (node?.revoked !== undefined && node.revoked.at >= token.createdAt)
    throw new MusterError(
      'FORBIDDEN',
      `${node.name} was revoked by ${node.revoked.by} after this token was made: make another for it`,
      { node: node.name },
    );
}
