import { Module } from '@nestjs/common';
import { JobSettlementReconciler } from './job-settlement.reconciler.js';
import { JobsController } from './jobs.controller.js';
import { OperationsModule } from '../operations/operations.module.js';
import { JobsService } from './jobs.service.js';

@Module({
  imports: [OperationsModule],
  controllers: [JobsController],
  providers: [JobsService, JobSettlementReconciler],
  exports: [JobsService],
})
export class JobsModule {}
