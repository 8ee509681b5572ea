import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  AGENT_TOKEN_PREFIX,
  AGENT_TOKEN_USES,
  agentTokenKey,
  agentsNats,
  MusterError,
  natsOf,
  tokenId,
  type AgentAdmission,
  type AgentToken,
  type RpcRequest,
  type StoredAgentToken,
} from '#contracts';
import { ServiceContext } from '#service';
import { InventoryStore, type Table } from '../store/inventory-store.js';
import { settingsOf } from '../store/settings-of.js';
import { AgentUsers } from '../agent-users/agent-users.js';
import { EnrolmentService } from './enrolment.service.js';
import { enrolledName, type EnrolRequest } from './enrolment.js';
import { asToken, hasTokenEnded, refuseOther, refuseRevoked, unused, used } from './token-use.js';

/** Tokens with which hosts enrol themselves. What is stored lets nobody in: a token is not its hash. */
@Injectable()
export class AgentTokensService {
  private readonly tokens: Table<StoredAgentToken>;

  constructor(
    private readonly context: ServiceContext,
    store: InventoryStore,
    private readonly enrolment: EnrolmentService,
    private readonly users: AgentUsers,
  ) {
    this.tokens = settingsOf(store);
  }

  /** Those that have not ended, newest first. */
  list(): AgentToken[] {
    const now = this.context.clock.wallMs();
    return this.stored()
      .filter((t) => !hasTokenEnded(t, now))
      .map(shown)
      .sort((a, b) => b.createdAt - a.createdAt);
  }

  async create(q: RpcRequest<'inventory.agentTokens.create'>): Promise<AgentToken> {
    const now = this.context.clock.wallMs();
    for (const old of this.stored())
      if (hasTokenEnded(old, now)) await this.tokens.bucket.delete(agentTokenKey(old.id));
    const token: StoredAgentToken = {
      id: tokenId(q.sha256),
      by: q.by,
      createdAt: now,
      expiresAt: now + q.ttl * 1000,
      uses: q.uses ?? AGENT_TOKEN_USES,
      usedBy: [],
      sha256: q.sha256,
    };
    await this.tokens.bucket.create(agentTokenKey(token.id), token);
    return shown(token);
  }

  /** @throws TOKEN_UNKNOWN */
  async delete(id: string): Promise<void> {
    const found = /^[0-9a-f]{16}$/.test(id) ? await this.tokens.bucket.get(agentTokenKey(id)) : undefined;
    if (found === undefined) throw new MusterError('TOKEN_UNKNOWN', `there is no agent token ${id}`);
    await this.tokens.bucket.delete(found.key, found.revision);
  }

  /** @throws UNAUTHORIZED where no token has this hash */
  async byHash(sha256: string): Promise<StoredAgentToken> {
    const found = (await this.tokens.bucket.get(agentTokenKey(tokenId(sha256))))?.value;
    if (found === undefined || !isEqual(found.sha256, sha256))
      throw new MusterError('UNAUTHORIZED', 'this token is not known, or it has ended');
    return asToken(found);
  }

  /**
   * Enrols the host. What its token is good for is counted before, and given back where the host is refused.
   * @throws UNAUTHORIZED, FORBIDDEN, CONFIG_INVALID where agents cannot reach NATS, and as an enrolment does
   */
  async admit(token: StoredAgentToken, host: EnrolRequest): Promise<AgentAdmission> {
    const node = enrolledName(host);
    const { agents, nats } = this.context.config;
    const reached = natsOf(host.networks, agentsNats(agents.nats, nats.servers));
    const key = agentTokenKey(token.id);
    const counted = await this.tokens.bucket.mutate(key, (current) =>
      used(current ? asToken(current.value) : ended(token), node, this.context.clock.wallMs()),
    );
    try {
      // Its record may have been deleted since, or it was let in again by another token.
      refuseRevoked(token, node, await this.users.revocationOf(node));
      const enrolment = await this.enrolment.enrol(host, (current) => {
        refuseRevoked(token, node, current?.revoked);
        refuseOther(host, current);
      });
      return { ...enrolment, nats: reached };
    } catch (e) {
      if (counted.changed) await this.tokens.bucket.mutate(key, (current) => current && unused(current.value, node));
      throw e;
    }
  }

  private stored(): StoredAgentToken[] {
    return this.tokens.view
      .entries()
      .filter((e) => e.key.startsWith(AGENT_TOKEN_PREFIX))
      .map((e) => asToken(e.value));
  }
}

/** It was deleted meanwhile. */
const ended = (token: StoredAgentToken): StoredAgentToken => ({ ...token, expiresAt: 0 });

function shown(stored: StoredAgentToken): AgentToken {
  const { sha256: _hash, ...token } = stored;
  return token;
}

function isEqual(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
