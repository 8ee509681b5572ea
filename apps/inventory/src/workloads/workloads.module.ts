import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { PowerModule } from '../power/power.module.js';
import { ReportsModule } from '../reports/reports.module.js';
import { DrainController } from './drain.controller.js';
import { GateResponder } from './gate.responder.js';
import { GenerationFloor } from './generation-floor.js';
import { MayStartService } from './may-start.service.js';
import { RecoverJobs } from './recover-jobs.service.js';
import { StandingService } from './standing.service.js';
import { WorkloadService } from './workload.service.js';
import { WorkloadsController } from './workloads.controller.js';

@Module({
  imports: [ReportsModule, PowerModule, IncidentsModule],
  controllers: [DrainController, WorkloadsController],
  providers: [GateResponder, GenerationFloor, MayStartService, RecoverJobs, StandingService, WorkloadService],
  exports: [RecoverJobs, StandingService, WorkloadService],
})
export class WorkloadsModule {}
