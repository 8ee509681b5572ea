import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { IdentityService } from './identity.service.js';

@Controller()
export class IdentityController {
  constructor(private readonly identity: IdentityService) {}

  @Rpc('inventory.nodes.identify')
  async identify(@Payload() q: RpcRequest<'inventory.nodes.identify'>): Promise<RpcAnswer<'inventory.nodes.identify'>> {
    return { devices: await this.identity.identify(q.name) };
  }

  @Rpc('inventory.nodes.acknowledge')
  acknowledge(
    @Payload() q: RpcRequest<'inventory.nodes.acknowledge'>,
  ): Promise<RpcAnswer<'inventory.nodes.acknowledge'>> {
    return this.identity.acknowledge(q);
  }
}
