import { Module } from '@nestjs/common';
import { ClaimsModule } from '../claims/claims.module.js';
import { IntentWriter } from './intent-writer.js';
import { PlanExecutor } from './plan-executor.js';

/** What carries out the plans of the conductor. */
@Module({ imports: [ClaimsModule], providers: [IntentWriter, PlanExecutor], exports: [PlanExecutor] })
export class ExecuteModule {}
