import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { By } from '#contracts';
import { OperationRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { RequestKey } from '../idempotency/idempotency.interceptor.js';
import { RpcClient } from '../rpc/rpc-client.js';

@ApiTags('operations')
@Controller('v1/operations')
export class OperationsController {
  constructor(private readonly rpc: RpcClient) {}

  @Post()
  @HttpCode(202)
  @Allow(
    'operator',
    'Start an operation on a set of nodes: all of them, or none',
    'Answers the job that carries it out.',
  )
  submit(@Body() body: OperationRequest, @Who() who: By, @RequestKey() key: { key?: string }) {
    return this.rpc.write('inventory.operations.submit', { ...who, ...body, ...key });
  }
}
