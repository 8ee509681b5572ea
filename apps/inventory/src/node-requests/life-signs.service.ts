import { Injectable } from '@nestjs/common';
import { LifeChannels, MusterError, type LifeSeen } from '#contracts';
import { InventoryStore } from '../store/inventory-store.js';
import { newestSeen } from './newest-seen.js';
import { NodeService } from '../nodes/node.service.js';

/** By what hosts show that they live, as observers have seen it, and of whom an admin has said that it need not be. */
@Injectable()
export class LifeSignsService {
  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
  ) {}

  /** @throws MusterError NODE_UNKNOWN, BAD_REQUEST */
  async seen(name: string, observer: string, { place, channels }: Omit<LifeSeen, 'at'>): Promise<void> {
    if (
      !isText(observer) ||
      !isText(place) ||
      !Array.isArray(channels) ||
      !channels.every((c) => LifeChannels.includes(c))
    )
      throw new MusterError('BAD_REQUEST', `${name}: an observer, a place, and channels of ${LifeChannels.join(', ')}`);
    const at = this.store.clock.wallMs();
    await this.nodes.change(name, (n) => ({
      ...n,
      lifeSeen: newestSeen({ ...n.lifeSeen, [observer]: { place, channels: [...new Set(channels)], at } }),
    }));
  }

  /** @throws MusterError NODE_UNKNOWN */
  async waive(name: string, by: string, reason: string): Promise<void> {
    const at = this.store.clock.wallMs();
    await this.nodes.change(name, (n) => ({ ...n, lifeSignWaived: { reason, by, at } }));
  }

  /** @throws MusterError NODE_UNKNOWN */
  async require(name: string): Promise<void> {
    await this.nodes.change(name, (n) => {
      if (n.lifeSignWaived === undefined) return undefined;
      const { lifeSignWaived: _over, ...rest } = n;
      return rest;
    });
  }
}

const isText = (x: unknown): x is string => typeof x === 'string' && x.length > 0 && x.length <= 256;
