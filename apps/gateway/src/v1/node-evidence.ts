import { Injectable } from '@nestjs/common';
import type { Verdict } from '#contracts';
import { EventHistory } from '../events/event-history.js';
import { RpcClient } from '../rpc/rpc-client.js';

@Injectable()
export class NodeEvidence {
  constructor(
    private readonly rpc: RpcClient,
    private readonly history: EventHistory,
  ) {}

  /** The last verdict with all of its evidence; where the stream no longer holds it, what the record keeps of it. */
  async of(name: string): Promise<{ node: string; verdict: Partial<Verdict> | null }> {
    const node = await this.rpc.read('inventory.nodes.get', { name });
    const { items } = await this.history.newestFirst({ kinds: ['verdict'], node: name }, 1);
    const verdict = items[0]?.data as Verdict | undefined;
    return { node: name, verdict: verdict ?? node.verdict ?? null };
  }
}
