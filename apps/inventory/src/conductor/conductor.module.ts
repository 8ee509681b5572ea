import { Global, Module } from '@nestjs/common';
import { ConductorService } from './conductor.service.js';
import { TokenGuardReconciler } from './token-guard.reconciler.js';

/** Global: a reconciler anywhere in the app injects the service and adds itself. */
@Global()
@Module({ providers: [ConductorService, TokenGuardReconciler], exports: [ConductorService] })
export class ConductorModule {}
