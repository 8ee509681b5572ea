import { Module } from '@nestjs/common';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { DriverReconciler } from './driver.reconciler.js';
import { StatusController } from './status.controller.js';
import { StatusService } from './status.service.js';

@Module({ imports: [IncidentsModule], controllers: [StatusController], providers: [StatusService, DriverReconciler] })
export class StatusModule {}
