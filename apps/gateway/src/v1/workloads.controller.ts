import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type By, WorkloadRequest } from '#contracts';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { ListQuery, toPage } from './queries.js';

@ApiTags('workloads')
@Controller('v1/workloads')
export class WorkloadsController {
  constructor(private readonly rpc: RpcClient) {}

  @Get()
  @Allow('viewer', 'Workloads and where each is assigned')
  list(@Query() query: ListQuery) {
    return this.rpc.read('inventory.workloads.list', toPage(query));
  }

  @Get(':name')
  @Allow('viewer', 'One workload')
  get(@Param('name') name: string) {
    return this.rpc.read('inventory.workloads.get', { name });
  }

  @Put(':name')
  @Allow('operator', 'Make or change a workload')
  put(@Param('name') name: string, @Body() workload: WorkloadRequest, @Who() who: By) {
    return this.rpc.write('inventory.workloads.put', { ...who, name, workload });
  }

  @Delete(':name')
  @HttpCode(204)
  @Allow(
    'operator',
    'Forget a workload',
    'Refused until it is stopped: put "desired": "stopped" first; without "stop" that is read back.',
  )
  async delete(@Param('name') name: string, @Who() who: By) {
    await this.rpc.write('inventory.workloads.delete', { ...who, name });
  }
}
