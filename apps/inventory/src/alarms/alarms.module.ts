import { Module } from '@nestjs/common';
import { InventoryStore } from '../store/inventory-store.js';
import { AlarmService } from './alarm.service.js';
import { AlarmsController } from './alarms.controller.js';
import { postEvent } from './webhook/webhook-request.js';
import { WebhooksService } from './webhook/webhooks.service.js';

@Module({
  controllers: [AlarmsController],
  providers: [
    {
      provide: WebhooksService,
      inject: [InventoryStore, AlarmService],
      useFactory: (store: InventoryStore, alarms: AlarmService) => new WebhooksService(store, alarms, postEvent),
    },
  ],
})
export class AlarmsModule {}
