import { Body, Controller, Get, Headers, Patch } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { By } from '#contracts';
import { SettingsPatchRequest } from '#contracts/settings/settings-request.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { ifMatch } from './if-match.js';

@ApiTags('settings')
@Controller('v1/settings')
export class SettingsController {
  constructor(private readonly rpc: RpcClient) {}

  @Get()
  @Allow('viewer', 'Settings of the cluster', 'Secrets are masked: `***`.')
  get() {
    return this.rpc.read('inventory.settings.get', {});
  }

  @Patch()
  @Allow(
    'admin',
    'Change settings',
    'A merge patch (RFC 7396), validated with the rest as one set: what is absent stays, `null` brings a default back, lists are replaced. A masked secret sent back stays as it is. Mode and pause of fencing are set by `PUT /v1/fencing`.',
  )
  patch(@Body() patch: SettingsPatchRequest, @Headers('if-match') match: string | undefined, @Who() who: By) {
    return this.rpc.write('inventory.settings.patch', { ...who, patch: { ...patch }, ...ifMatch(match) });
  }
}
