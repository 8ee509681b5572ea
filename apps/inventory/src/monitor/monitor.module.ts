import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { NodesModule } from '../node-files/nodes.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { CommandInlet } from './command.inlet.js';
import { DetectionAlarmsReconciler } from './detection-alarms.reconciler.js';
import { MonitorController } from './monitor.controller.js';
import { MonitorService } from './monitor.service.js';

@Module({
  imports: [NodesModule, OperationsModule, IncidentsModule],
  controllers: [MonitorController],
  providers: [MonitorService, CommandInlet, DetectionAlarmsReconciler],
})
export class MonitorModule {}
