import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { WorkloadsModule } from '../workloads/workloads.module.js';
import { ReportsModule } from '../reports/reports.module.js';
import { AgentsView } from './agents-view.js';
import { DiagnosisService } from './diagnosis.service.js';
import { StatusController } from './status.controller.js';
import { StatusService } from './status.service.js';

@Module({
  imports: [ReportsModule, IncidentsModule, WorkloadsModule],
  controllers: [StatusController],
  providers: [AgentsView, DiagnosisService, StatusService],
})
export class StatusModule {}
