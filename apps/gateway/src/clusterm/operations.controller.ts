import { HttpCode, Post } from '@nestjs/common';
import { type By, MusterError } from '#contracts';
import { MonitorEventRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { checked } from '../body/checked.pipe.js';
import { ClustermController } from '../auth/surface.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { PathName, PostBody } from './clusterm-body.decorator.js';
import type { ClustermBody } from './clusterm-body.js';

type Kind = 'commission' | 'decommission' | 'maintenance';

/** A POST that is accepted has an empty answer; the job is found under `/info/job/active`. */
@ClustermController()
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

  @Post('discover/nodes')
  @HttpCode(200)
  @Allow('operator', 'Install the agent on machines by address, so that they appear as nodes')
  discover(@PostBody() body: ClustermBody, @Who() who: By) {
    return this.submitDiscover(body.addresses, body, who);
  }

  @Post('discover/node/:addr')
  @HttpCode(200)
  @Allow('operator', 'Install the agent on one machine, so that it appears as a node')
  discoverOne(@PathName('addr') address: string, @PostBody() body: ClustermBody, @Who() who: By) {
    return this.submitDiscover([address], body, who);
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
    const { hostGroup, extraVars } = body;
    const force = kind !== 'commission' && (body.force === true || (await this.forces()));
    await this.rpc.write('inventory.operations.submit', {
      ...who,
      kind,
      nodes,
      ...(hostGroup !== undefined && kind !== 'decommission' && { hostGroup }),
      ...(extraVars !== undefined && { extraVars }),
      ...(force && { force }),
      // Its clients know no such rule, and cannot ask to be let past it.
      ...(kind === 'maintenance' && { atOnce: true }),
    });
  }

  private async submitDiscover(addresses: string[], { extraVars }: ClustermBody, who: By): Promise<void> {
    const request = { ...who, kind: 'discover' as const, addresses, ...(extraVars !== undefined && { extraVars }) };
    await this.rpc.write('inventory.operations.submit', request);
  }

  /** Whether requests of this surface move workloads away first: its clients cannot ask for it. */
  private async forces(): Promise<boolean> {
    return (await this.rpc.read('inventory.settings.get', {})).compat.force;
  }
}
