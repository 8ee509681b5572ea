import { Module } from '@nestjs/common';
import { AcceptedDriftService } from './accepted-drift.service.js';
import { ChecksController } from './checks.controller.js';

@Module({
  controllers: [ChecksController],
  providers: [AcceptedDriftService],
})
export class ChecksModule {}
