import { Module } from '@nestjs/common';
import { DriverReconciler } from './driver.reconciler.js';
import { StatusController } from './status.controller.js';
import { StatusService } from './status.service.js';

@Module({ controllers: [StatusController], providers: [StatusService, DriverReconciler] })
export class StatusModule {}
