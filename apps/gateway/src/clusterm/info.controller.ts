import { Get, Query, Res } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { clustermNode, type ClustermNode, type NodeView } from '#contracts';
import { Allow } from '../auth/roles.js';
import { ClustermController } from '../auth/surface.js';
import { JobLog } from '../rpc/job-log.js';
import { NodeReads } from '../rpc/node-reads.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { GetBody, PathName } from './clusterm-body.decorator.js';
import type { ClustermBody } from './clusterm-body.js';
import { jobObject, jobRefusal, LOG_LINES } from './job-object.js';

@ClustermController('info')
export class InfoController {
  constructor(
    private readonly rpc: RpcClient,
    private readonly reads: NodeReads,
    private readonly logs: JobLog,
  ) {}

  @Get('nodes')
  @ApiQuery({ name: 'nodes', required: false, description: 'names, separated by commas or repeated; none: all' })
  @Allow('viewer', 'Nodes by name', 'Names may also come as `{"nodes": […]}` in a body. Unknown ones are left out.')
  async nodes(@Query('nodes') query: string | string[] | undefined, @GetBody() body: ClustermBody) {
    const names = [...body.nodes, ...[query ?? []].flat().flatMap((text) => text.split(','))].filter((n) => n !== '');
    const nodes: Record<string, ClustermNode> = {};
    for await (const node of this.all(names)) nodes[node.name] = clustermNode(node);
    return nodes;
  }

  @Get('node/:name')
  @Allow('viewer', 'One node')
  async node(@PathName('name') name: string) {
    return clustermNode(await this.reads.view(name));
  }

  @Get('globals')
  @Allow('viewer', 'Extra vars of every run')
  async globals() {
    return { extra_vars: (await this.rpc.read('inventory.settings.get', {})).globals };
  }

  @Get('job/:label')
  @Allow('viewer', 'A job: `active`, `last`, or its id')
  async job(@PathName('label') label: string) {
    try {
      const job = await this.rpc.read('inventory.jobs.get', { id: label });
      return jobObject(job, await this.logs.tail(job.id, LOG_LINES));
    } catch (error) {
      throw jobRefusal(label, error);
    }
  }

  @Get('logs/:label')
  @Allow('viewer', 'The log of a job, followed until the job ends')
  async log(@PathName('label') label: string, @Res() reply: FastifyReply) {
    try {
      await this.logs.send(label, { follow: true }, reply);
    } catch (error) {
      throw jobRefusal(label, error);
    }
  }

  private async *all(names: string[]): AsyncIterable<NodeView> {
    const filter = names.length === 0 ? {} : { names };
    let cursor: string | undefined;
    do {
      const page = await this.rpc.read('inventory.nodes.list', { ...filter, limit: 1000, ...(cursor && { cursor }) });
      yield* page.items;
      cursor = page.next;
    } while (cursor !== undefined);
  }
}
