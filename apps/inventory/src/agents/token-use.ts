import { MusterError, type AgentRevocation, type NodeRecord, type StoredAgentToken } from '#contracts';
import { isFree, type EnrolRequest } from './enrolment.js';

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
  if (token.usedBy.length >= token.uses)
    throw new MusterError(
      'UNAUTHORIZED',
      `this token is used up (${token.uses}): make another with "muster agent token create"`,
    );
  return { ...token, usedBy: [...token.usedBy, node] };
}

/** As read: one of an earlier Muster may say no number, and is then used up. */
export const asToken = (stored: Omit<StoredAgentToken, 'uses'> & { uses?: number }): StoredAgentToken => ({
  ...stored,
  uses: stored.uses ?? stored.usedBy.length,
});

/** As it was before: the node was refused. */
export const unused = (token: StoredAgentToken, node: string): StoredAgentToken => ({
  ...token,
  usedBy: token.usedBy.filter((n) => n !== node),
});

/** A node that was shut out may still hold the token that let it in. @throws FORBIDDEN */
export function refuseRevoked(
  token: Pick<StoredAgentToken, 'createdAt'>,
  node: string,
  revoked: Pick<AgentRevocation, 'by' | 'at'> | undefined,
): void {
  if (revoked !== undefined && revoked.at >= token.createdAt)
    throw new MusterError(
      'FORBIDDEN',
      `${node} was revoked by ${revoked.by} after this token was made: make another for it`,
      {
        node,
      },
    );
}

/**
 * By a token nobody becomes the agent of a node who leaves out what is on record of its machine, nor another machine
 * while the node serves: what a request does not say would be compared with nothing. @throws ALREADY_EXISTS
 */
export function refuseOther(host: Pick<EnrolRequest, 'machine' | 'hostKeys'>, node: NodeRecord | undefined): void {
  if (node === undefined) return;
  const { name, machine, sshHostKeys = [] } = node;
  const refused = (why: string): MusterError => new MusterError('ALREADY_EXISTS', why, { node: name });
  if (machine !== undefined && host.machine === undefined)
    throw refused(
      `${name} is known by its machine id, which the host does not show: give it a valid /etc/machine-id, or delete that node first (muster node delete ${name}) and make another token`,
    );
  if (sshHostKeys.length > 0 && (host.hostKeys ?? []).length === 0)
    throw refused(
      `${name} is known by its ssh host keys, and the host shows none: have them forgotten where it has none`,
    );
  if (machine !== undefined && host.machine !== machine && !isFree(node))
    throw refused(
      `${name} is ${node.status} and has another machine id than the host: where it was installed anew, decommission it first`,
    );
}
