import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { NodeStateModule } from '../node-state/node-state.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { CommandInlet } from './command.inlet.js';
import { ExternalMonitorsController } from './external-monitors.controller.js';
import { ExternalMonitorsService } from './external-monitors.service.js';

@Module({
  imports: [NodeStateModule, OperationsModule, IncidentsModule],
  controllers: [ExternalMonitorsController],
  providers: [ExternalMonitorsService, CommandInlet],
})
export class ExternalMonitorsModule {}
