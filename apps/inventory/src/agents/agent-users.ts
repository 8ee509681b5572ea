import { Injectable } from '@nestjs/common';
import type { Entry, KvBucket, KvView } from '#bus';
import { AGENT_USER_PREFIX, agentUserKey, type AgentUser } from '#contracts';
import { InventoryStore } from '../store/inventory-store.js';

/** The NATS users that agents were issued, those that were revoked among them: these stay for good. */
@Injectable()
export class AgentUsers {
  private readonly bucket: KvBucket<AgentUser>;
  private readonly view: KvView<AgentUser>;

  constructor(store: InventoryStore) {
    this.bucket = store.bus.bucket<AgentUser>('settings');
    // The same watch serves all keys of the bucket: only the type differs.
    this.view = store.settings.view as unknown as KvView<AgentUser>;
  }

  /** After the node's record names it: one that no record names is worthless. */
  async note(key: string, node: string): Promise<void> {
    await this.bucket.mutate(agentUserKey(key), (current) => (current ? undefined : { key, node, at: Date.now() }));
  }

  async noteRevoked(key: string, node: string): Promise<void> {
    await this.bucket.mutate(agentUserKey(key), (current) =>
      current?.value.revoked === undefined
        ? { ...(current?.value ?? { key, node, at: Date.now() }), revoked: Date.now() }
        : undefined,
    );
  }

  /** As last seen. */
  get all(): AgentUser[] {
    return this.view
      .entries()
      .filter((e: Entry<AgentUser>) => e.key.startsWith(AGENT_USER_PREFIX))
      .map((e) => e.value);
  }

  get live(): boolean {
    return this.view.live;
  }
}
