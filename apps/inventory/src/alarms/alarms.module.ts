import { Module } from '@nestjs/common';
import { AlarmsController } from './alarms.controller.js';
import { WebhooksService } from './webhook/webhooks.service.js';

@Module({ controllers: [AlarmsController], providers: [WebhooksService] })
export class AlarmsModule {}
