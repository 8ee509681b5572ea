import { Module } from '@nestjs/common';
import { PowerModule } from '../power/power.module.js';
import { OperationsController } from './operations.controller.js';
import { OperationsService } from './operations.service.js';
import { OrphanHoldsReconciler } from './orphan-holds.reconciler.js';
import { RollForwardReconciler } from './roll-forward.reconciler.js';

@Module({
  imports: [PowerModule],
  controllers: [OperationsController],
  providers: [OperationsService, RollForwardReconciler, OrphanHoldsReconciler],
  exports: [OperationsService],
})
export class OperationsModule {}
