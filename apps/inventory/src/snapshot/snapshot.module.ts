import { Global, Module } from '@nestjs/common';
import { AgentUsersModule } from '../agent-users/agent-users.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { PowerModule } from '../power/power.module.js';
import { ReportsModule } from '../reports/reports.module.js';
import { FlapWatch } from './flap-watch.js';
import { FleetSource } from './fleet-source.js';
import { PeriodicReads } from './periodic-reads.js';
import { Refusals } from './refusals.js';

@Global()
@Module({
  imports: [AgentUsersModule, IdentityModule, PowerModule, ReportsModule],
  providers: [FlapWatch, FleetSource, PeriodicReads, Refusals],
  exports: [FlapWatch, FleetSource, PeriodicReads, Refusals],
})
export class SnapshotModule {}
