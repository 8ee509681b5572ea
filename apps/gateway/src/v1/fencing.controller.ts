import { Body, Controller, Get, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { By } from '#contracts';
import { FencingRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { RpcClient } from '../rpc/rpc-client.js';

@ApiTags('fencing')
@Controller('v1/fencing')
export class FencingController {
  constructor(private readonly rpc: RpcClient) {}

  @Get()
  @Allow('viewer', 'Mode and pause of automatic fencing')
  async get() {
    return (await this.rpc.read('inventory.settings.get', {})).fencing;
  }

  @Put()
  @Allow(
    'admin',
    'Set mode and pause',
    'Enforcing is refused, naming the nodes without a tested power device, unless `except` lists them.',
  )
  put(@Body() body: FencingRequest, @Who() who: By) {
    return this.rpc.write('inventory.fencing.put', { ...who, ...body });
  }
}
