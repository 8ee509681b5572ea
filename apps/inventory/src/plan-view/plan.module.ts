import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { PowerModule } from '../power/power.module.js';
import { RecoveryModule } from '../recovery/recovery.module.js';
import { PlanController } from './plan.controller.js';
import { PlanService } from './plan.service.js';

@Module({
  imports: [PowerModule, IncidentsModule, RecoveryModule],
  controllers: [PlanController],
  providers: [PlanService],
})
export class PlanModule {}
