import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { By } from '#contracts';
import { PowerActionRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { RpcClient } from '../rpc/rpc-client.js';

@ApiTags('nodes')
@Controller('v1/nodes/:name/power')
export class PowerController {
  constructor(private readonly rpc: RpcClient) {}

  @Get()
  @Allow('viewer', 'The power as its devices read it, now', 'Unknown is not off.')
  read(@Param('name') node: string) {
    // One command of a BMC may take 6 s, and another may run before it.
    return this.rpc.write('fencer.power.read', { node });
  }

  @Post()
  @HttpCode(202)
  @Allow(
    'operator',
    'Switch the power of a node by hand',
    'Off is a fencing, with proof. Cycle is one after which the node is switched on. On waits until an off that was ordered before cannot take effect any more. Soft asks the system to shut down, and proves nothing. A device that was proven to be the node’s own is asked first who it is. The incident that is answered tells how it goes. Refused in mode observe, while fencing is paused, and where a device that it may come to is known as another machine’s (IDENTITY_MISMATCH) until an administrator answers for it.',
  )
  act(@Param('name') name: string, @Body() { action, reason }: PowerActionRequest, @Who() who: By) {
    return this.rpc.write('inventory.nodes.power', { ...who, name, action, reason });
  }
}
