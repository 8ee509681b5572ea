import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { NodeStateModule } from '../node-state/node-state.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { CommandInlet } from './command.inlet.js';
import { MonitorController } from './monitor.controller.js';
import { MonitorService } from './monitor.service.js';

@Module({
  imports: [NodeStateModule, OperationsModule, IncidentsModule],
  controllers: [MonitorController],
  providers: [MonitorService, CommandInlet],
})
export class MonitorModule {}
