import { Module } from '@nestjs/common';
import { BucketGuard } from './bucket-guard.js';
import { RecordsController } from './records.controller.js';
import { RecordsService } from './records.service.js';

@Module({ controllers: [RecordsController], providers: [BucketGuard, RecordsService] })
export class RecordsModule {}
