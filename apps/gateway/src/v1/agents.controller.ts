import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { createHash, randomBytes } from 'node:crypto';
import { type By, MusterError } from '#contracts';
import { AgentEnrolRequest, AgentKeyRotateRequest, AgentTokenRequest } from '#contracts/rpc/requests.js';
import { addressOf, AgentToken, Who } from '../auth/bearer.guard.js';
import { FailedTries, sourceOf } from '../auth/failed-tries.js';
import { Allow } from '../auth/roles.js';
import { ShownOnce } from '../idempotency/idempotency.interceptor.js';
import { RpcClient } from '../rpc/rpc-client.js';

const TOKEN_BYTES = 32;
const DEFAULT_TTL_S = 3600;
const sha256Of = (token: string): string => createHash('sha256').update(token).digest('hex');

@ApiTags('agents')
@Controller('v1/agents')
export class AgentsController {
  private readonly failures = new FailedTries();

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
    '`token` is shown in this answer and nowhere else; an answer that is repeated for an Idempotency-Key is without it. It opens `POST /v1/agents/enrol` and nothing else. `ttl` in seconds, an hour by default; `uses` is the number of nodes that may be enrolled with it, one by default.',
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

  @Get('key')
  @Allow(
    'viewer',
    "The key of the agents' datagrams: by what it is known, and how far its exchange is",
    '`keys` are the first 8 hex digits of the SHA-256 of each, the first signs. `phase`: `spread` gives the new one to everybody, `sign` signs with it, `done` is without the old one; `file` before the first exchange. `waitsFor` has those that the next step waits for or, where none follows, that have other keys.',
  )
  keyStatus() {
    return this.rpc.read('inventory.agentKeys.get', {});
  }

  @Post('key/rotate')
  @HttpCode(200)
  @Allow(
    'admin',
    "Exchange the key of the agents' datagrams",
    'Goes on by itself, and no agent is unheard meanwhile. With `dropAbsent` an exchange that is under way waits no longer for nodes that neither report nor are heard; 409 `STILL_ALIVE` where there is none such.',
  )
  rotateKey(@Body() order: AgentKeyRotateRequest, @Who() who: By) {
    return this.rpc.write('inventory.agentKeys.rotate', { ...who, ...order });
  }

  @Post('enrol')
  @Allow(
    'agent-token',
    'A host enrols itself',
    'With an agent token as bearer; `muster-agent enroll` does it. The answer holds secrets, which go to the host and nowhere else. Refused, with an alarm, where a living node has its name, or another node its address, its machine id, the serial number of its mainboard or one of its ssh host keys. Who shows wrong tokens too often is answered 429 for a while, whatever is shown then.',
  )
  async enrol(@Body() host: AgentEnrolRequest, @AgentToken() token: string, @Req() request: FastifyRequest) {
    const source = sourceOf(request.ip, request.raw.socket.remoteAddress);
    const retryAfter = Math.ceil(this.failures.waitMs(source, performance.now()) / 1000);
    if (retryAfter > 0)
      throw new MusterError('TOO_MANY_TRIES', `too many wrong tokens from here: try again in ${retryAfter} s`, {
        retryAfter,
      });
    try {
      return await this.rpc.write('inventory.agents.admit', {
        sha256: sha256Of(token),
        host,
        from: addressOf(request),
      });
    } catch (e) {
      if (MusterError.from(e).code === 'UNAUTHORIZED') this.failures.failed(source, performance.now());
      throw e;
    }
  }
}
