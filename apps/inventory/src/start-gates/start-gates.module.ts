import { Module } from '@nestjs/common';
import { ReportsModule } from '../reports/reports.module.js';
import { StartGatesReconciler } from './start-gates.reconciler.js';

@Module({ imports: [ReportsModule], providers: [StartGatesReconciler] })
export class StartGatesModule {}
