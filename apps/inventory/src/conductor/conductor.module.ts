import { Global, Module } from '@nestjs/common';
import { ConductorService } from './conductor.service.js';

/** Global: whoever learns what a task waits for wakes it. */
@Global()
@Module({ providers: [ConductorService], exports: [ConductorService] })
export class ConductorModule {}
