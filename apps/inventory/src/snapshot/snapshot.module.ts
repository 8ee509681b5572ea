import { Global, Module } from '@nestjs/common';
import { PowerModule } from '../power/power.module.js';
import { ReportsModule } from '../reports/reports.module.js';
import { FleetSource } from './fleet-source.js';

@Global()
@Module({ imports: [PowerModule, ReportsModule], providers: [FleetSource], exports: [FleetSource] })
export class SnapshotModule {}
