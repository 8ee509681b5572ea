import { Injectable } from '@nestjs/common';
import type { KvBucket } from '#bus';
import { hasEnded, MusterError, tokenId, type RpcRequest, type StoredToken, type TokenRecord } from '#contracts';
import { InventoryStore } from '../store/inventory-store.js';

/** API tokens: the gateways read them from the bucket for themselves. */
@Injectable()
export class TokensService {
  private readonly bucket: KvBucket<StoredToken>;

  constructor(private readonly store: InventoryStore) {
    this.bucket = store.bus.bucket<StoredToken>('tokens');
  }

  /** By name; those that have ended too, until they are deleted. */
  async list(): Promise<(TokenRecord & { id: string })[]> {
    const stored = (await this.bucket.list()).map((entry) => entry.value);
    return stored.map(shown).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @throws ALREADY_EXISTS while a token of that name has not ended */
  async create(q: RpcRequest<'inventory.tokens.create'>): Promise<TokenRecord> {
    const record: StoredToken = { ...q.token, by: q.by, createdAt: this.store.clock.wallMs(), sha256: q.sha256 };
    await this.bucket.mutate(record.name, (current) => {
      if (current !== undefined && !hasEnded(current.value, record.createdAt))
        throw new MusterError('ALREADY_EXISTS', `there is a token "${record.name}": delete it, or take another name`);
      return record;
    });
    return withoutHash(record);
  }

  /** @throws TOKEN_UNKNOWN */
  async delete(id: string): Promise<void> {
    const found = (await this.bucket.list()).find((entry) => tokenId(entry.value.sha256) === id);
    if (found === undefined) throw new MusterError('TOKEN_UNKNOWN', `there is no token ${id}`);
    await this.bucket.delete(found.key, found.revision);
  }
}

function withoutHash(stored: StoredToken): TokenRecord {
  const { sha256: _hash, ...token } = stored;
  return token;
}

const shown = (token: StoredToken): TokenRecord & { id: string } => ({
  id: tokenId(token.sha256),
  ...withoutHash(token),
});
