import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { ClaimsModule } from '../claims/claims.module.js';
import { IncidentsModule } from '../incidents/incidents.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { NodeStateModule } from '../node-state/node-state.module.js';
import { NodeRequestsModule } from '../node-requests/node-requests.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { WorkloadsModule } from '../workloads/workloads.module.js';
import { VerdictsModule } from '../verdicts/verdicts.module.js';
import { AgentWriter } from './agent-writer.js';
import { IncidentWriter } from './incident-writer.js';
import { IntentWriter } from './intent-writer.js';
import { JobWriter } from './job-writer.js';
import { MessageWriter } from './message-writer.js';
import { NodeWriter } from './node-writer.js';
import { PlanExecutor } from './plan-executor.js';
import { SettlementWriter } from './settlement-writer.js';
import { SubmissionWriter } from './submission-writer.js';
import { WorkloadWriter } from './workload-writer.js';

/** What carries out the plans of the conductor. */
@Module({
  imports: [
    AgentsModule,
    ClaimsModule,
    IncidentsModule,
    JobsModule,
    NodeRequestsModule,
    NodeStateModule,
    OperationsModule,
    WorkloadsModule,
    VerdictsModule,
  ],
  providers: [
    AgentWriter,
    IncidentWriter,
    IntentWriter,
    JobWriter,
    MessageWriter,
    NodeWriter,
    PlanExecutor,
    SettlementWriter,
    SubmissionWriter,
    WorkloadWriter,
  ],
  exports: [PlanExecutor],
})
export class ExecuteModule {}
