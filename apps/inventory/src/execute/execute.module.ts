import { Module } from '@nestjs/common';
import { ClaimsModule } from '../claims/claims.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { NodeRequestsModule } from '../node-requests/node-requests.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { PowerModule } from '../power/power.module.js';
import { RecoveryModule } from '../recovery/recovery.module.js';
import { VerdictsModule } from '../verdicts/verdicts.module.js';
import { IncidentReconciler } from './incident.reconciler.js';
import { IntentWriter } from './intent-writer.js';
import { PlanExecutor } from './plan-executor.js';
import { SettlementWriter } from './settlement-writer.js';

/** What carries out the plans of the conductor. */
@Module({
  imports: [
    ClaimsModule,
    IdentityModule,
    IncidentsModule,
    NodeRequestsModule,
    OperationsModule,
    PowerModule,
    RecoveryModule,
    VerdictsModule,
  ],
  providers: [IncidentReconciler, IntentWriter, PlanExecutor, SettlementWriter],
  exports: [IncidentReconciler, PlanExecutor],
})
export class ExecuteModule {}
