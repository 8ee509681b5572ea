import { Get, HttpCode, Post } from '@nestjs/common';
import type { By } from '#contracts';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { ClustermController } from '../auth/surface.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { PostBody } from './clusterm-body.decorator.js';
import type { ClustermBody } from './clusterm-body.js';

@ClustermController('config')
export class ConfigController {
  constructor(private readonly rpc: RpcClient) {}

  @Get()
  @Allow('viewer', 'The configuration in force', 'Secrets among the extra variables are masked.')
  async get() {
    return (await this.rpc.read('inventory.config.get', {})).config;
  }

  @Post()
  @HttpCode(200)
  @Allow(
    'admin',
    'Change the Ansible part of the configuration',
    'It reaches the next run. What is absent or empty stays, a masked secret too; any other part must be as it is.',
  )
  async put(@PostBody() { config }: ClustermBody, @Who() who: By) {
    await this.rpc.write('inventory.config.put', { ...who, config });
  }
}
