import { Global, Module } from '@nestjs/common';
import { ConductorService } from './conductor.service.js';
import { TaskAlarmsReconciler } from './task-alarms.reconciler.js';

/** Global: whoever learns what a task waits for wakes it. */
@Global()
@Module({ providers: [ConductorService, TaskAlarmsReconciler], exports: [ConductorService] })
export class ConductorModule {}
