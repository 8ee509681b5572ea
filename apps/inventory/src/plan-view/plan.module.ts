import { Module } from '@nestjs/common';
import { ExecuteModule } from '../execute/execute.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { PowerModule } from '../power/power.module.js';
import { WorkloadsModule } from '../workloads/workloads.module.js';
import { PlanController } from './plan.controller.js';
import { PlanService } from './plan.service.js';

@Module({
  imports: [PowerModule, IncidentsModule, WorkloadsModule, ExecuteModule],
  controllers: [PlanController],
  providers: [PlanService],
})
export class PlanModule {}
