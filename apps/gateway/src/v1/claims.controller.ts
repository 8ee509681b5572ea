import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { By } from '#contracts';
import { ClaimRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { RequestKey } from '../idempotency/idempotency.interceptor.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { ClaimListQuery, toPage } from '../queries/queries.js';

@ApiTags('claims')
@Controller('v1/claims')
export class ClaimsController {
  constructor(private readonly rpc: RpcClient) {}

  @Get()
  @Allow('operator', 'Claims, and the nodes that each holds')
  list(@Query() query: ClaimListQuery) {
    return this.rpc.read('inventory.claims.list', toPage(query));
  }

  @Post()
  @Allow(
    'operator',
    'Take nodes that are in service, for a scheduler outside: all that are asked for, or none',
    'They are spread over failure domains. Nobody else takes them, and no operation, until the claim ends.',
  )
  create(@Body() body: ClaimRequest, @Who() who: By, @RequestKey() key: { key?: string }) {
    return this.rpc.write('inventory.claims.create', { ...who, ...body, ...key });
  }

  @Get(':id')
  @Allow('operator', 'One claim')
  get(@Param('id') id: string) {
    return this.rpc.read('inventory.claims.get', { id });
  }

  @Delete(':id')
  @HttpCode(204)
  @Allow('operator', 'Give the nodes of a claim back')
  async delete(@Param('id') id: string, @Who() who: By) {
    await this.rpc.write('inventory.claims.delete', { ...who, id });
  }
}
