import { Module } from '@nestjs/common';
import { OperationsModule } from '../operations/operations.module.js';
import { ReportsModule } from '../recovery/reports.module.js';
import { FlapWatch } from './flap-watch.js';
import { ReturnReconciler } from './return.reconciler.js';

@Module({
  imports: [OperationsModule, ReportsModule],
  providers: [FlapWatch, ReturnReconciler],
})
export class ReturnsModule {}
