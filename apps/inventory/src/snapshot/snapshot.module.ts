import { Global, Module } from '@nestjs/common';
import { IdentityModule } from '../identity/identity.module.js';
import { PowerModule } from '../power/power.module.js';
import { ReportsModule } from '../reports/reports.module.js';
import { FleetSource } from './fleet-source.js';

@Global()
@Module({ imports: [IdentityModule, PowerModule, ReportsModule], providers: [FleetSource], exports: [FleetSource] })
export class SnapshotModule {}
