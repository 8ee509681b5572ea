import { Module } from '@nestjs/common';
import { PowerModule } from '../power/power.module.js';
import { OperationsController } from './operations.controller.js';
import { OperationsService } from './operations.service.js';
import { RollForwardReconciler } from './roll-forward.reconciler.js';

@Module({
  imports: [PowerModule],
  controllers: [OperationsController],
  providers: [OperationsService, RollForwardReconciler],
  exports: [OperationsService],
})
export class OperationsModule {}
