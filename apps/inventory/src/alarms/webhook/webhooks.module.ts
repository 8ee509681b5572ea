import { Module } from '@nestjs/common';
import { AlarmService } from '../alarm.service.js';
import { InventoryStore } from '../../store/inventory-store.js';
import { postEvent } from './webhook-request.js';
import { WebhooksService } from './webhooks.service.js';

@Module({
  providers: [
    {
      provide: WebhooksService,
      inject: [InventoryStore, AlarmService],
      useFactory: (store: InventoryStore, alarms: AlarmService) => new WebhooksService(store, alarms, postEvent),
    },
  ],
})
export class WebhooksModule {}
