import { Module } from '@nestjs/common';
import { AlarmsController } from './alarms.controller.js';

@Module({ controllers: [AlarmsController] })
export class AlarmsModule {}
