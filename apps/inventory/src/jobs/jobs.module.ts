import { Module } from '@nestjs/common';
import { JobRetentionReconciler } from './job-retention.reconciler.js';
import { JobSettlementReconciler } from './job-settlement.reconciler.js';
import { JobsController } from './jobs.controller.js';
import { OperationsModule } from '../operations/operations.module.js';
import { JobsService } from './jobs.service.js';

@Module({
  imports: [OperationsModule],
  controllers: [JobsController],
  providers: [JobsService, JobSettlementReconciler, JobRetentionReconciler],
  exports: [JobsService],
})
export class JobsModule {}
