import { Global, Module } from '@nestjs/common';
import { ReportsModule } from '../reports/reports.module.js';
import { FleetSource } from './fleet-source.js';

@Global()
@Module({ imports: [ReportsModule], providers: [FleetSource], exports: [FleetSource] })
export class SnapshotModule {}
