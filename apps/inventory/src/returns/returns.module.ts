import { Module } from '@nestjs/common';
import { OperationsModule } from '../operations/operations.module.js';
import { PowerModule } from '../power/power.module.js';
import { ReportsModule } from '../reports/reports.module.js';
import { FlapWatch } from './flap-watch.js';
import { ReturnReconciler } from './return.reconciler.js';

@Module({
  imports: [ReportsModule, PowerModule, OperationsModule],
  providers: [FlapWatch, ReturnReconciler],
})
export class ReturnsModule {}
