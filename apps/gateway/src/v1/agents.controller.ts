import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { createHash, randomBytes } from 'node:crypto';
import { AgentEnrolRequest, AgentTokenRequest, type By, MusterError } from '#contracts';
import { ShownToken, Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { ShownOnce } from '../idempotency/idempotency.interceptor.js';
import { RpcClient } from '../rpc/rpc-client.js';

const TOKEN_BYTES = 32;
const DEFAULT_TTL_S = 3600;
const sha256Of = (token: string): string => createHash('sha256').update(token).digest('hex');

@ApiTags('agents')
@Controller('v1/agents')
export class AgentsController {
  constructor(private readonly rpc: RpcClient) {}

  @Get('tokens')
  @Allow('admin', 'Agent tokens that have not ended', 'With the nodes that were enrolled by each.')
  list() {
    return this.rpc.read('inventory.agentTokens.list', {});
  }

  @Post('tokens')
  @ShownOnce('token')
  @Allow(
    'admin',
    'Make a token with which hosts enrol themselves',
    '`token` is shown in this answer and nowhere else; an answer that is repeated for an Idempotency-Key is without it. It opens `POST /v1/agents/enrol` and nothing else. `ttl` in seconds, an hour by default.',
  )
  async create(@Body() { ttl = DEFAULT_TTL_S, uses }: AgentTokenRequest, @Who() who: By) {
    const token = `mse_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
    const request = { ...who, sha256: sha256Of(token), ttl, ...(uses !== undefined && { uses }) };
    return { ...(await this.rpc.write('inventory.agentTokens.create', request)), token };
  }

  @Delete('tokens/:id')
  @HttpCode(204)
  @Allow('admin', 'End an agent token', 'Nodes that were enrolled with it stay.')
  async delete(@Param('id') id: string, @Who() who: By) {
    await this.rpc.write('inventory.agentTokens.delete', { ...who, id });
  }

  @Post('enrol')
  @Allow(
    'agent-token',
    'A host enrols itself',
    'With an agent token as bearer; `muster-agent enroll` does it. The answer holds secrets, which go to the host and nowhere else. Refused, with an alarm, where a living node has its name, or another node its address.',
  )
  enrol(@Body() host: AgentEnrolRequest, @ShownToken() token: string | undefined) {
    if (token === undefined) throw new MusterError('UNAUTHORIZED', 'an agent token is needed: Authorization: Bearer …');
    return this.rpc.write('inventory.agents.admit', { sha256: sha256Of(token), host });
  }
}
