import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { AcceptedDriftService } from './accepted-drift.service.js';
import { ChecksController } from './checks.controller.js';
import { PeriodicCheckReconciler } from './periodic-check.reconciler.js';

@Module({
  imports: [JobsModule, OperationsModule],
  controllers: [ChecksController],
  providers: [AcceptedDriftService, PeriodicCheckReconciler],
})
export class ChecksModule {}
