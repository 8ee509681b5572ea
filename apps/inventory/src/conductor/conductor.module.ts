import { Global, Module } from '@nestjs/common';
import { ConductorService } from './conductor.service.js';
import { TokenGuardReconciler } from './token-guard.reconciler.js';

/** Global: whoever learns what a task waits for wakes it. */
@Global()
@Module({ providers: [ConductorService, TokenGuardReconciler], exports: [ConductorService] })
export class ConductorModule {}
