import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { VerdictNow } from './verdict-now.js';

/** What the active detector thinks of a node at this moment, for people who ask why. */
@Controller()
export class VerdictController {
  constructor(private readonly now: VerdictNow) {}

  @Rpc('inventory.nodes.verdict')
  async verdict(q: RpcRequest<'inventory.nodes.verdict'>): Promise<RpcAnswer<'inventory.nodes.verdict'>> {
    const verdict = await this.now.of(q.name);
    return verdict === undefined ? {} : { verdict };
  }
}
