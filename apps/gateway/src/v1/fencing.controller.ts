import { Body, Controller, Get, Headers, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { fencingNow, type By } from '#contracts';
import { FencingRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { FencingReportQuery } from '../queries/queries.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { ifMatch } from './if-match.js';
import { FencingReports } from './fencing-reports.js';

@ApiTags('fencing')
@Controller('v1/fencing')
export class FencingController {
  constructor(
    private readonly rpc: RpcClient,
    private readonly reports: FencingReports,
  ) {}

  @Get()
  @Allow('viewer', 'Mode and pause of automatic fencing')
  async get() {
    return fencingNow((await this.rpc.read('inventory.settings.get', {})).fencing, Date.now());
  }

  @Get('report')
  @Allow(
    'viewer',
    'What was decided about dead nodes, and in mode observe would have been done',
    'By the events that are kept: `keptSince` says since when, where that is not the whole period, and `observing` since when the mode is observe. What would have been fenced counts as fenced for gates CAP and FLAPPING.',
  )
  report(@Query() { days }: FencingReportQuery) {
    return this.reports.of(days ?? 7);
  }

  @Put()
  @Allow(
    'admin',
    'Set mode and pause',
    'Enforcing is refused, naming the nodes without a tested power device, unless `except` lists them. Where the tests of some have not ended, the refusal says how many are `untested`, and at which `revision` the settings were: asked again with that in `If-Match`, it does not undo what somebody has ordered since.',
  )
  put(@Body() body: FencingRequest, @Headers('if-match') match: string | undefined, @Who() who: By) {
    return this.rpc.write('inventory.fencing.put', { ...who, ...body, ...ifMatch(match) });
  }
}
