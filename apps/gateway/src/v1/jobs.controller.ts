import { Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { By } from '#contracts';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { JobLog } from '../rpc/job-log.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { JobListQuery, LogQuery, toPage } from '../queries/queries.js';

@ApiTags('jobs')
@Controller('v1/jobs')
export class JobsController {
  constructor(
    private readonly rpc: RpcClient,
    private readonly logs: JobLog,
  ) {}

  @Get()
  @Allow('viewer', 'Jobs, newest first')
  list(@Query() query: JobListQuery) {
    return this.rpc.read('inventory.jobs.list', toPage(query));
  }

  @Get(':id')
  @Allow(
    'viewer',
    'One job, with the result of each node',
    '`active` is the newest of somebody’s that has not ended, else the newest of the system’s; `last` the newest of somebody’s that has.',
  )
  get(@Param('id') id: string) {
    return this.rpc.read('inventory.jobs.get', { id });
  }

  @Get(':id/log')
  @ApiProduces('text/plain')
  @Allow('viewer', 'The log of a job; with `follow=true` until it ends')
  log(@Param('id') id: string, @Query() query: LogQuery, @Res() reply: FastifyReply) {
    return this.logs.send(id, query, reply);
  }

  @Post(':id/cancel')
  @HttpCode(202)
  @Allow(
    'operator',
    'End a job, its Ansible and its children',
    '`active` is somebody’s job; one of the system’s is ended by its id only.',
  )
  cancel(@Param('id') id: string, @Who() who: By) {
    return this.rpc.write('inventory.jobs.cancel', { ...who, id });
  }
}
