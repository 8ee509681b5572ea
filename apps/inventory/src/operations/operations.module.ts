import { Module } from '@nestjs/common';
import { PowerQuarantine } from '../power/power-quarantine.js';
import { OperationsController } from './operations.controller.js';
import { OperationsService } from './operations.service.js';
import { OrphanHoldsReconciler } from './orphan-holds.reconciler.js';
import { RollForwardReconciler } from './roll-forward.reconciler.js';

@Module({
  controllers: [OperationsController],
  providers: [OperationsService, PowerQuarantine, RollForwardReconciler, OrphanHoldsReconciler],
  exports: [OperationsService, PowerQuarantine],
})
export class OperationsModule {}
