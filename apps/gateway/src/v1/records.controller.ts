import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { By } from '#contracts';
import { RecordDeleteRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { RpcClient } from '../rpc/rpc-client.js';

@ApiTags('records')
@Controller('v1/records')
export class RecordsController {
  constructor(private readonly rpc: RpcClient) {}

  @Get('unreadable')
  @Allow(
    'operator',
    'Stored records that cannot be read',
    'Left out of all that is decided and shown, with the alarm `record-unreadable`, until they are deleted. `foreign`: under a key that no program of Muster writes.',
  )
  list() {
    return this.rpc.read('inventory.records.list', {});
  }

  @Post('delete')
  @HttpCode(204)
  @Allow(
    'admin',
    'Delete a stored record that cannot be read',
    'What can be read is not deleted this way. `admission/reservations` only once every job has ended, `admission/permits` only while fencing is paused, a lease only when nobody contends for it, the incident of a node that is silent only with `force`: what it has in doubt is gone with it.',
  )
  async delete(@Body() { bucket, key, reason, force }: RecordDeleteRequest, @Who() who: By) {
    await this.rpc.write('inventory.records.delete', { ...who, bucket, key, reason, ...(force === true && { force }) });
  }
}
