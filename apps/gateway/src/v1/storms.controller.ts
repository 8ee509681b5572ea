import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { By } from '#contracts';
import { StormRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { RpcClient } from '../rpc/rpc-client.js';

@ApiTags('storms')
@Controller('v1/storms')
export class StormsController {
  constructor(private readonly rpc: RpcClient) {}

  @Get()
  @Allow('viewer', 'Storms that stand: who fell silent together, who is back, and when fencing resumes')
  list() {
    return this.rpc.read('inventory.storms.list', {});
  }

  @Get(':id')
  @Allow('viewer', 'One storm')
  get(@Param('id') id: string) {
    return this.rpc.read('inventory.storms.get', { id });
  }

  @Post(':id/release')
  @HttpCode(200)
  @Allow('operator', 'Let members be fenced in spite of the storm', 'By default all that are not back.')
  release(@Param('id') id: string, @Body() { reason, nodes }: StormRequest, @Who() who: By) {
    return this.rpc.write('inventory.storms.release', { ...who, id, reason, ...(nodes && { nodes }) });
  }

  @Post(':id/confirm')
  @HttpCode(200)
  @Allow('operator', 'State that you have seen members to be down', 'By default all that are not back.')
  confirm(@Param('id') id: string, @Body() { reason, nodes, force }: StormRequest, @Who() who: By) {
    return this.rpc.write('inventory.storms.confirm', {
      ...who,
      id,
      reason,
      ...(nodes && { nodes }),
      ...(force === true && { force }),
    });
  }
}
