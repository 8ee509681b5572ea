import { Readable } from 'node:stream';
import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { By, RpcAnswer } from '#contracts';
import { NodeImportRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { NodeExportQuery } from '../queries/queries.js';

@ApiTags('nodes')
@Controller('v1/nodes')
export class NodeFilesController {
  constructor(private readonly rpc: RpcClient) {}

  @Post('import')
  @HttpCode(200)
  @Allow(
    'operator',
    'Register and edit the nodes of a file, all or none',
    'YAML has a list `nodes:` in the shape of registrations, CSV a header of columns. Names that exist are edited, others created, nodes that the file does not name stay. Whatever is wrong is answered with its line, and nothing is written then.',
  )
  import(@Body() file: NodeImportRequest, @Who() who: By) {
    return this.rpc.write('inventory.nodes.import', { ...who, ...file });
  }

  @Get('export')
  @ApiProduces('text/yaml', 'text/csv')
  @Allow('viewer', 'Nodes as a file, without secrets', 'They are masked: `***`. Imported again it changes nothing.')
  async export(@Query() query: NodeExportQuery, @Res() reply: FastifyReply) {
    const { format, selector } = query;
    const q = { format, ...(selector !== undefined && { selector }) };
    const first = await this.rpc.read('inventory.nodes.export', q);
    const rest = async function* (this: NodeFilesController): AsyncIterable<string> {
      let page: RpcAnswer<'inventory.nodes.export'> = first;
      yield page.text;
      while (page.next !== undefined) {
        page = await this.rpc.read('inventory.nodes.export', { ...q, cursor: page.next });
        yield page.text;
      }
    };
    return reply
      .type(`text/${format}; charset=utf-8`)
      .header('content-disposition', `attachment; filename="nodes.${format}"`)
      .send(Readable.from(rest.call(this)));
  }
}
