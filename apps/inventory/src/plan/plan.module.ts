import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { RecoveryModule } from '../recovery/recovery.module.js';
import { ReportsModule } from '../recovery/reports.module.js';
import { PlanController } from './plan.controller.js';
import { PlanService } from './plan.service.js';

@Module({
  imports: [IncidentsModule, OperationsModule, RecoveryModule, ReportsModule],
  controllers: [PlanController],
  providers: [PlanService],
})
export class PlanModule {}
