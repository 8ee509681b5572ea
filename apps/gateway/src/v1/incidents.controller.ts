import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { By } from '#contracts';
import { ReasonRequest, ReleaseRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { IncidentReports } from './incident-reports.js';
import { IncidentListQuery, toPage } from '../queries/queries.js';

@ApiTags('incidents')
@Controller('v1/incidents')
export class IncidentsController {
  constructor(
    private readonly rpc: RpcClient,
    private readonly reports: IncidentReports,
  ) {}

  @Get()
  @Allow('viewer', 'Incidents: gates, votes, evidence, power commands, timeline')
  list(@Query() query: IncidentListQuery) {
    return this.rpc.read('inventory.incidents.list', toPage(query));
  }

  @Get(':node')
  @Allow('viewer', 'The newest incident of a node')
  get(@Param('node') node: string) {
    return this.rpc.read('inventory.incidents.get', { node });
  }

  @Get(':node/report')
  @Allow(
    'viewer',
    'The newest incident of a node for the post-mortem',
    'What happened, the evidence, decisions, commands, what moved, what people did, and what is open.',
  )
  report(@Param('node') node: string) {
    return this.reports.of(node);
  }

  @Post(':node/release')
  @HttpCode(202)
  @Allow('operator', 'Let an incident past the gate that blocks it')
  release(@Param('node') node: string, @Body() { reason, force, gate }: ReleaseRequest, @Who() who: By) {
    return this.rpc.write('inventory.incidents.release', {
      ...{ ...who, node, reason },
      ...(force === true && { force }),
      ...(gate !== undefined && { gate }),
    });
  }

  @Post(':node/confirm')
  @HttpCode(200)
  @Allow('operator', 'State that you have seen the node to be down', 'Answers `doNotPowerOnBefore`.')
  confirm(@Param('node') node: string, @Body() { reason, force }: ReasonRequest, @Who() who: By) {
    return this.rpc.write('inventory.incidents.confirm', { ...who, node, reason, ...(force === true && { force }) });
  }

  @Post(':node/cancel')
  @HttpCode(200)
  @Allow('operator', 'Cancel an incident, until its first power command')
  cancel(@Param('node') node: string, @Body() { reason }: ReasonRequest, @Who() who: By) {
    return this.rpc.write('inventory.incidents.cancel', { ...who, node, reason });
  }
}
