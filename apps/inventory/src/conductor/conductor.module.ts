import { Global, Module } from '@nestjs/common';
import { ConductorService } from './conductor.service.js';

/** Global: a reconciler anywhere in the app injects the service and adds itself. */
@Global()
@Module({ providers: [ConductorService], exports: [ConductorService] })
export class ConductorModule {}
