import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Patch, Post, Put, Query, Res } from '@nestjs/common';
import { ApiConsumes, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { By } from '#contracts';
import {
  AcceptDriftRequest,
  CordonRequest,
  DrillRequest,
  NodeCreateRequest,
  NodePatchRequest,
  NodeReplaceRequest,
  ReasonRequest,
  RevokeRequest,
  WaiveLifeSignRequest,
} from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { EventHistory } from '../events/event-history.js';
import { toDate } from '../events/event-selection.js';
import { NodeReads } from '../rpc/node-reads.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { EvidenceService } from './node-evidence.js';
import { ifMatch } from './if-match.js';
import { jsonList, nodePages } from './node-pages.js';
import { EvidenceQuery, HistoryQuery, NodeListQuery, toPage } from '../queries/queries.js';

@ApiTags('nodes')
@Controller('v1/nodes')
export class NodesController {
  constructor(
    private readonly rpc: RpcClient,
    private readonly reads: NodeReads,
    private readonly evidence: EvidenceService,
    private readonly history: EventHistory,
  ) {}

  @Get()
  @Allow(
    'viewer',
    'Nodes, with what is computed: in service or not, and why not',
    'Secrets among their variables, and among the options of their power devices, are masked: `***`. A selector sees them so, too.',
  )
  async list(@Query() query: NodeListQuery, @Res() reply: FastifyReply) {
    const fields = query.fields ? query.fields.split(',') : undefined;
    const pages = nodePages(this.rpc, { ...toPage(query), ...(fields && { fields }) });
    return reply.type('application/json').send(await jsonList(pages));
  }

  @Post()
  @Allow('operator', 'Register a node', 'Refused where no live worker offers one of its drivers.')
  create(@Body() node: NodeCreateRequest, @Who() who: By) {
    return this.rpc.write('inventory.nodes.create', { ...who, node });
  }

  @Get(':name')
  @Allow('viewer', 'One node')
  get(@Param('name') name: string) {
    return this.reads.text(name);
  }

  @Patch(':name')
  @ApiConsumes('application/merge-patch+json', 'application/json')
  @Allow(
    'operator',
    'Edit a node',
    'A JSON merge patch: what is absent stays, null removes. A masked secret sent back stays as it is. A change of nothing makes no new revision. Networks, power devices and driver stay while a job holds the node or an incident is open; the role of a node that is set up is changed by maintenance.',
  )
  patch(
    @Param('name') name: string,
    @Body() patch: NodePatchRequest,
    @Headers('if-match') match: string | undefined,
    @Who() who: By,
  ) {
    return this.rpc.write('inventory.nodes.patch', { ...who, name, patch, ...ifMatch(match) });
  }

  @Post(':name/replace')
  @Allow(
    'operator',
    'Put new hardware in the place of a node',
    'The answer is the new node: with the host group, domain, variables, networks and power devices of the old one unless given, and as unknown as every new node. Refused where the old one could not be removed.',
  )
  replace(
    @Param('name') name: string,
    @Body() replacement: NodeReplaceRequest,
    @Headers('if-match') match: string | undefined,
    @Who() who: By,
  ) {
    return this.rpc.write('inventory.nodes.replace', { ...who, name, replacement, ...ifMatch(match) });
  }

  @Delete(':name')
  @HttpCode(204)
  @Allow(
    'operator',
    'Remove a node that does not serve',
    'Refused while an incident, a job, a claim or workloads are tied to it.',
  )
  async delete(@Param('name') name: string, @Headers('if-match') match: string | undefined, @Who() who: By) {
    await this.rpc.write('inventory.nodes.delete', { ...who, name, ...ifMatch(match) });
  }

  @Put(':name/cordon')
  @Allow(
    'operator',
    'Leave the node alone: no fencing, no placement, no check when it returns, until uncordoned',
    'With `drain` its workloads are moved away, one by one: each is stopped there, and started elsewhere once that was read back.',
  )
  cordon(@Param('name') name: string, @Body() { drain, ...body }: CordonRequest, @Who() who: By) {
    return this.rpc.write(drain === true ? 'inventory.nodes.drain' : 'inventory.nodes.cordon', {
      ...who,
      name,
      ...body,
    });
  }

  @Delete(':name/cordon')
  @Allow('operator', 'End a cordon')
  uncordon(@Param('name') name: string, @Who() who: By) {
    return this.rpc.write('inventory.nodes.uncordon', { ...who, name });
  }

  @Post(':name/drill')
  @HttpCode(202)
  @Allow(
    'operator',
    'Prove by a drill that the power devices are its own',
    'A node that is UP and runs nothing is powered off by its first fencing level, or by the one given (`level`, from 1), and on again. The devices of that level are proven where its agent, and nobody else, fell silent with the off. The incident that is answered tells how it goes.',
  )
  drill(@Param('name') name: string, @Body() body: DrillRequest, @Who() who: By) {
    return this.rpc.write('inventory.nodes.drill', { ...who, name, ...body });
  }

  @Put(':name/accepted-drift')
  @Allow(
    'operator',
    'Accept the drift that the last check of the node has found',
    'It holds for exactly what was found, under the effective configuration as it was then: any other drift, and anything broken, is told and dealt with as before. It ends at `until`, when it is withdrawn, and when the node (or the service that it is about) is set up again. A return that waits because of drift is checked anew. With `check`, the job of that check, it is refused where another check has come since.',
  )
  acceptDrift(@Param('name') name: string, @Body() accepted: AcceptDriftRequest, @Who() who: By) {
    return this.rpc.write('inventory.nodes.acceptDrift', { ...who, ...accepted, name });
  }

  @Delete(':name/accepted-drift')
  @Allow('operator', 'Have an accepted drift told again')
  withdrawDrift(@Param('name') name: string, @Who() who: By) {
    return this.rpc.write('inventory.nodes.withdrawDrift', { ...who, name });
  }

  @Put(':name/life-sign-waiver')
  @Allow(
    'admin',
    'Let the node be powered off although nothing but its agent shows that its host lives',
    'Where neither ssh nor ping nor a closed UDP port of its host can be reached from the detectors, a silent agent is no proof of death, and the node is held by the gate LIFE_SIGN. With this it is fenced on the word of the agents alone. For a whole host group: `lifeSign: none` with `lifeSignReason` in the settings.',
  )
  waiveLifeSign(@Param('name') name: string, @Body() { reason }: WaiveLifeSignRequest, @Who() who: By) {
    return this.rpc.write('inventory.nodes.waiveLifeSign', { ...who, name, reason });
  }

  @Delete(':name/life-sign-waiver')
  @Allow('admin', 'Hold the node again while nothing but its agent shows that its host lives')
  requireLifeSign(@Param('name') name: string, @Who() who: By) {
    return this.rpc.write('inventory.nodes.requireLifeSign', { ...who, name });
  }

  @Post(':name/fence')
  @HttpCode(202)
  @Allow(
    'operator',
    'Power the node off, with proof',
    'A dry run answers every gate and does nothing; a running incident is joined.',
  )
  fence(@Param('name') name: string, @Body() { reason, dryRun }: ReasonRequest, @Who() who: By) {
    return this.rpc.write('inventory.nodes.fence', { ...who, name, reason, ...(dryRun === true && { dryRun }) });
  }

  @Post(':name/identify')
  @HttpCode(200)
  @Allow(
    'operator',
    'Ask the power devices of a node who they are',
    'Each says its GUID or serial number, which is compared with what the machine itself said at its last check: `proven`, `unproven`, or `mismatch`, which is never powered off by. One that cannot be read now keeps what was found before, and says `unread`. `neighbours` have a device at the same address, under another port, driver or outlet.',
  )
  identify(@Param('name') name: string, @Who() who: By) {
    return this.rpc.write('inventory.nodes.identify', { ...who, name });
  }

  @Post(':name/power-devices/:device/acknowledge')
  @HttpCode(200)
  @Allow(
    'admin',
    'Answer for a power device that says that it is another machine’s',
    'The node is fenced by it again, as by one that is not proven. It holds while the same device answers at the same place with the same credentials.',
  )
  acknowledge(
    @Param('name') name: string,
    @Param('device') device: string,
    @Body() { reason }: ReasonRequest,
    @Who() who: By,
  ) {
    return this.rpc.write('inventory.nodes.acknowledge', { ...who, name, device, reason });
  }

  @Post(':name/revoke')
  @HttpCode(200)
  @Allow(
    'admin',
    'Shut the agent of a node out',
    'The node is no member any more, its agent is not believed, and NATS lets it in no more; it comes back by being enrolled again. Nobody watches the node then: refused while a job or a claim holds it, its incident is open or workloads are assigned to it, unless `force` is set. `pending` says why NATS could not be told; asked again, it is.',
  )
  revoke(@Param('name') name: string, @Body() { reason, force }: RevokeRequest, @Who() who: By) {
    return this.rpc.write('inventory.nodes.revoke', { ...who, name, reason, ...(force === true && { force }) });
  }

  @Get(':name/evidence')
  @Allow(
    'viewer',
    'Why the node is judged as it is, or was at a moment of the past: observers × networks',
    '`source`: `now` where the active detector was asked, `stored` where its last published verdict is shown. With `at` the last verdict that was given at or before that moment, also of a node that was deleted; `NOT_FOUND` where none is kept from then.',
  )
  getEvidence(@Param('name') name: string, @Query() { at }: EvidenceQuery) {
    return at === undefined ? this.evidence.now(name) : this.evidence.at(name, toDate('at', at));
  }

  @Get(':name/history')
  @Allow(
    'viewer',
    'Events of the node, newest first',
    'Also those of a node that was deleted. A page may be short, or empty, and still have a `next`.',
  )
  getHistory(@Param('name') name: string, @Query() query: HistoryQuery) {
    return this.history.ofNode(name, query.cursor, query.limit);
  }
}
