import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type AlarmView, alarmKey, type By } from '#contracts';
import { AckRequest } from '#contracts/rpc/requests.js';
import { Who } from '../auth/bearer.guard.js';
import { Allow } from '../auth/roles.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { AlarmListQuery } from '../queries/queries.js';

/** An alarm's key is its id. */
const withId = (alarm: AlarmView): AlarmView & { id: string } => ({
  id: alarmKey(alarm.code, alarm.subject),
  ...alarm,
});

@ApiTags('alarms')
@Controller('v1/alarms')
export class AlarmsController {
  constructor(private readonly rpc: RpcClient) {}

  @Get()
  @Allow('viewer', 'Alarms that stand; with `all=true` the cleared ones too')
  async list(@Query() { all }: AlarmListQuery) {
    const { items } = await this.rpc.read('inventory.alarms.list', all === true ? { all } : {});
    return { items: items.map(withId) };
  }

  @Post(':id/ack')
  @HttpCode(200)
  @Allow('operator', 'Acknowledge an alarm: somebody is on it', 'The note stands in the alarm and in the audit.')
  async ack(@Param('id') id: string, @Body() { note }: AckRequest, @Who() who: By) {
    return withId(await this.rpc.write('inventory.alarms.ack', { ...who, id, ...(note !== undefined && { note }) }));
  }
}
