import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { By } from '#contracts';
import { WorkloadRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { ForgetQuery, ListQuery, toPage } from '../queries/queries.js';

@ApiTags('workloads')
@Controller('v1/workloads')
export class WorkloadsController {
  constructor(private readonly rpc: RpcClient) {}

  @Get()
  @Allow('viewer', 'Workloads: what each should do, and what is seen of it')
  list(@Query() query: ListQuery) {
    return this.rpc.read('inventory.workloads.list', toPage(query));
  }

  @Get(':name')
  @Allow('viewer', 'One workload')
  get(@Param('name') name: string) {
    return this.rpc.read('inventory.workloads.get', { name });
  }

  @Put(':name')
  @Allow('operator', 'Make or change a workload', 'A masked secret of its spec sent back stays as it is.')
  put(@Param('name') name: string, @Body() workload: WorkloadRequest, @Who() who: By) {
    return this.rpc.write('inventory.workloads.put', { ...who, name, workload });
  }

  @Delete(':name')
  @HttpCode(204)
  @Allow(
    'operator',
    'Forget a workload',
    'Refused until it is stopped: put "desired": "stopped" first; without "stop" that is read back. On a node that was never heard nothing can be read back: there `reason` says why somebody knows that it does not run.',
  )
  async delete(@Param('name') name: string, @Query() { reason }: ForgetQuery, @Who() who: By) {
    await this.rpc.write('inventory.workloads.delete', { ...who, name, ...(reason !== undefined && { reason }) });
  }
}
