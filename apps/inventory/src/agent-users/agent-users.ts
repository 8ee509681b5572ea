import { Injectable } from '@nestjs/common';
import type { Entry } from '#bus';
import {
  AGENT_REVOCATION_PREFIX,
  AGENT_USER_PREFIX,
  agentRevocationKey,
  agentUserKey,
  type AgentRevocation,
  type AgentUser,
} from '#contracts';
import { InventoryStore, type Table } from '../store/inventory-store.js';
import { settingsOf } from '../store/settings-of.js';

/** The NATS users that agents were issued, those that were revoked among them: these stay for good. */
@Injectable()
export class AgentUsers {
  private readonly users: Table<AgentUser>;
  private readonly revocations: Table<AgentRevocation>;

  constructor(private readonly store: InventoryStore) {
    this.users = settingsOf(store);
    this.revocations = settingsOf(store);
  }

  /** After the node's record names it: one that no record names is worthless. */
  async note(key: string, node: string): Promise<void> {
    await this.users.bucket.mutate(agentUserKey(key), (current) =>
      current ? undefined : { key, node, at: this.store.clock.wallMs() },
    );
  }

  async noteRevoked(key: string, node: string): Promise<void> {
    await this.users.bucket.mutate(agentUserKey(key), (current) =>
      current?.value.revoked === undefined
        ? { ...(current?.value ?? { key, node, at: this.store.clock.wallMs() }), revoked: this.store.clock.wallMs() }
        : undefined,
    );
  }

  /**
   * Outlives the node's record. The latest counts.
   * @returns whether it was written
   */
  async noteRevocation(r: AgentRevocation): Promise<boolean> {
    const { changed } = await this.revocations.bucket.mutate(agentRevocationKey(r.node), (current) =>
      current !== undefined && current.value.at >= r.at ? undefined : r,
    );
    return changed;
  }

  /** A live read. */
  async revocationOf(node: string): Promise<AgentRevocation | undefined> {
    return (await this.revocations.bucket.get(agentRevocationKey(node)))?.value;
  }

  /** As last seen, by node. */
  get revoked(): Map<string, AgentRevocation> {
    const { view } = this.revocations;
    const entries = view.entries().filter((e) => e.key.startsWith(AGENT_REVOCATION_PREFIX));
    const revoked = new Map(entries.map((e) => [e.value.node, e.value]));
    // Whom it shut out stays so: the key says who that is.
    for (const [key, { why: reason }] of view.unreadable)
      if (key.startsWith(AGENT_REVOCATION_PREFIX)) {
        const node = key.slice(AGENT_REVOCATION_PREFIX.length);
        revoked.set(node, { node, by: 'muster', at: Number.MAX_SAFE_INTEGER, reason });
      }
    return revoked;
  }

  /** As last seen. */
  get all(): AgentUser[] {
    return this.users.view
      .entries()
      .filter((e: Entry<AgentUser>) => e.key.startsWith(AGENT_USER_PREFIX))
      .map((e) => e.value);
  }

  get live(): boolean {
    return this.users.view.live;
  }
}
