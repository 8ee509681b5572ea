import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { PowerModule } from '../power/power.module.js';
import { ReportsModule } from '../reports/reports.module.js';
import { Contradictions } from './contradictions.js';
import { DrainController } from './drain.controller.js';
import { GateResponder } from './gate.responder.js';
import { GenerationFloor } from './generation-floor.js';
import { MayStartService } from './may-start.service.js';
import { RecoverJobs } from './recover-jobs.service.js';
import { RecoveryReconciler } from './recovery.reconciler.js';
import { StandingService } from './standing.service.js';
import { WorkloadService } from './workload.service.js';
import { WorkloadsController } from './workloads.controller.js';

@Module({
  imports: [ReportsModule, PowerModule, IncidentsModule],
  controllers: [DrainController, WorkloadsController],
  providers: [
    Contradictions,
    GateResponder,
    GenerationFloor,
    MayStartService,
    RecoverJobs,
    RecoveryReconciler,
    StandingService,
    WorkloadService,
  ],
  exports: [Contradictions, RecoverJobs, StandingService, WorkloadService],
})
export class RecoveryModule {}
