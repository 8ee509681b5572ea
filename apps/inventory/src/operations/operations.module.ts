import { Module } from '@nestjs/common';
import { PowerQuarantine } from '../returns/power-quarantine.js';
import { OperationsController } from './operations.controller.js';
import { OperationsService } from './operations.service.js';
import { RollForwardReconciler } from './roll-forward.reconciler.js';

@Module({
  controllers: [OperationsController],
  providers: [OperationsService, PowerQuarantine, RollForwardReconciler],
  exports: [OperationsService, PowerQuarantine],
})
export class OperationsModule {}
