import { Module } from '@nestjs/common';
import { ReportsModule } from '../reports/reports.module.js';
import { BucketGuard } from './bucket-guard.js';
import { RecordsController } from './records.controller.js';
import { RecordsService } from './records.service.js';
import { StoreMemory } from './store-memory.js';

@Module({
  imports: [ReportsModule],
  controllers: [RecordsController],
  providers: [BucketGuard, RecordsService, StoreMemory],
})
export class RecordsModule {}
