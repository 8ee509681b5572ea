import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type By, MusterError } from '#contracts';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { checked } from '../body/checked.pipe.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { PathName, PostBody } from './clusterm-body.decorator.js';
import type { ClustermBody } from './clusterm-body.js';
import { MonitorEventRequest } from '#contracts';

type Kind = 'commission' | 'decommission' | 'maintenance';

/** A POST that is accepted has an empty answer; the job is found under `/info/job/active`. */
@ApiTags('clusterm')
@Controller()
export class ClustermOperationsController {
  constructor(private readonly rpc: RpcClient) {}

  @Post('commission/nodes')
  @HttpCode(200)
  @Allow('operator', 'Bring nodes into a host group')
  commission(@PostBody() body: ClustermBody, @Who() who: By) {
    return this.submit('commission', body.nodes, body, who);
  }

  @Post('commission/node/:name')
  @HttpCode(200)
  @Allow('operator', 'Bring one node into a host group')
  commissionOne(@PathName('name') name: string, @PostBody() body: ClustermBody, @Who() who: By) {
    return this.submit('commission', [name], body, who);
  }

  @Post('decommission/nodes')
  @HttpCode(200)
  @Allow('operator', 'Clean nodes up and take them out')
  decommission(@PostBody() body: ClustermBody, @Who() who: By) {
    return this.submit('decommission', body.nodes, body, who);
  }

  @Post('decommission/node/:name')
  @HttpCode(200)
  @Allow('operator', 'Clean one node up and take it out')
  decommissionOne(@PathName('name') name: string, @PostBody() body: ClustermBody, @Who() who: By) {
    return this.submit('decommission', [name], body, who);
  }

  @Post(['maintenance/nodes', 'update/nodes'])
  @HttpCode(200)
  @Allow('operator', 'Upgrade nodes: cleanup, then site')
  maintenance(@PostBody() body: ClustermBody, @Who() who: By) {
    return this.submit('maintenance', body.nodes, body, who);
  }

  @Post(['maintenance/node/:name', 'update/node/:name'])
  @HttpCode(200)
  @Allow('operator', 'Upgrade one node: cleanup, then site')
  maintenanceOne(@PathName('name') name: string, @PostBody() body: ClustermBody, @Who() who: By) {
    return this.submit('maintenance', [name], body, who);
  }

  @Post('globals')
  @HttpCode(200)
  @Allow('operator', 'Replace the extra vars of every run', 'Blank or `{}` clears them; absent changes nothing.')
  async globals(@PostBody() { extraVars }: ClustermBody, @Who() who: By) {
    if (extraVars !== undefined) await this.rpc.write('inventory.globals.put', { ...who, extraVars });
  }

  @Post('monitor/event')
  @HttpCode(200)
  @Allow('operator', 'What another monitor saw: `discovered` or `disappeared`, with a list of nodes')
  async monitorEvent(@PostBody() { monitorEvent }: ClustermBody, @Who() who: By) {
    const name = monitorEvent?.name ?? '';
    const event = name.toLowerCase();
    if (event !== 'discovered' && event !== 'disappeared')
      throw new MusterError('BAD_REQUEST', `Invalid or empty event name specified: "${name}"`);
    if (monitorEvent === undefined || monitorEvent.nodes.length === 0)
      throw new MusterError('BAD_REQUEST', 'atleast one node should be specified');
    const { nodes } = checked(MonitorEventRequest, { nodes: monitorEvent.nodes });
    await this.rpc.write('inventory.monitor.event', { ...who, event, nodes });
  }

  private async submit(kind: Kind, nodes: string[], body: ClustermBody, who: By): Promise<void> {
    const { hostGroup, extraVars, force } = body;
    await this.rpc.write('inventory.operations.submit', {
      ...who,
      kind,
      nodes,
      ...(hostGroup !== undefined && kind !== 'decommission' && { hostGroup }),
      ...(extraVars !== undefined && { extraVars }),
      ...(force === true && { force }),
    });
  }
}
