import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { createHash, randomBytes } from 'node:crypto';
import { type By, hasEnded, MusterError, tokenId } from '#contracts';
import { TokenRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { Tokens } from '../auth/tokens.js';
import { ShownOnce } from '../idempotency/idempotency.interceptor.js';
import { RpcClient } from '../rpc/rpc-client.js';

const TOKEN_BYTES = 32;

@ApiTags('tokens')
@Controller('v1/tokens')
export class TokensController {
  constructor(
    private readonly rpc: RpcClient,
    private readonly tokens: Tokens,
  ) {}

  @Get()
  @Allow('admin', 'API tokens', 'Those that were made over the API; a token itself is never shown again.')
  list() {
    return this.rpc.read('inventory.tokens.list', {});
  }

  @Post()
  @ShownOnce('token')
  @Allow(
    'admin',
    'Make an API token',
    '`token` is shown in this answer and nowhere else; an answer that is repeated for an Idempotency-Key is without it. `ttl` in seconds. Tokens are asked for where `http.tokens` is configured.',
  )
  async create(@Body() { name, role, ttl }: TokenRequest, @Who() who: By) {
    if (this.tokens.isTaken(name))
      throw new MusterError('ALREADY_EXISTS', `http.tokens has a token "${name}": take another name`);
    const token = `mst_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
    const sha256 = createHash('sha256').update(token).digest('hex');
    const expiry = ttl === undefined ? {} : { expiresAt: Date.now() + ttl * 1000 };
    const record = await this.rpc.write('inventory.tokens.create', {
      ...who,
      sha256,
      token: { name, role, ...expiry },
    });
    return { ...record, id: tokenId(sha256), token };
  }

  @Delete(':id')
  @HttpCode(204)
  @Allow(
    'admin',
    'End an API token',
    'Requests with it are refused, and its open streams end, within a second. The last admin token is kept while nobody else could make another: see `http.tokens` and unix sockets.',
  )
  async delete(@Param('id') id: string, @Who() who: By) {
    if (!this.tokens.hasOtherAdmin) await this.refuseLastAdmin(id);
    await this.rpc.write('inventory.tokens.delete', { ...who, id });
  }

  private async refuseLastAdmin(id: string): Promise<void> {
    const { items } = await this.rpc.read('inventory.tokens.list', {});
    const admins = items.filter((token) => token.role === 'admin' && !hasEnded(token, Date.now()));
    if (admins.length === 1 && admins[0]?.id === id)
      throw new MusterError(
        'LAST_ADMIN',
        `"${admins[0].name}" is the last admin token: make another first, or open a unix socket (http.listen), where none is asked for`,
      );
  }
}
