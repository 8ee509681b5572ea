import { Module, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { AgentsModule } from './agents/agents.module.js';
import { AlarmsModule } from './alarms/alarms.module.js';
import { WebhooksModule } from './alarms/webhook/webhooks.module.js';
import { ChecksModule } from './checks/checks.module.js';
import { ClaimsModule } from './claims/claims.module.js';
import { ConductorModule } from './conductor/conductor.module.js';
import { ConductorService } from './conductor/conductor.service.js';
import { ExecuteModule } from './execute/execute.module.js';
import { IdentityModule } from './identity/identity.module.js';
import { IncidentsModule } from './incidents/incidents.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { ExternalMonitorsModule } from './external-monitors/external-monitors.module.js';
import { NodeFilesModule } from './node-files/node-files.module.js';
import { NodeRequestsModule } from './node-requests/node-requests.module.js';
import { NodeStateModule } from './node-state/node-state.module.js';
import { OperationsModule } from './operations/operations.module.js';
import { PlanModule } from './plan-view/plan.module.js';
import { RecordsModule } from './records/records.module.js';
import { WorkloadsModule } from './workloads/workloads.module.js';
import { SettingsModule } from './settings/settings.module.js';
import { SnapshotModule } from './snapshot/snapshot.module.js';
import { StatusModule } from './status/status.module.js';
import { StoreModule } from './store.module.js';
import { tasksBy } from './tasks.js';
import { TokensModule } from './tokens/tokens.module.js';

/** Owns node state, jobs, incidents and workloads; the one place that decides. */
@Module({
  imports: [
    StoreModule,
    SettingsModule,
    TokensModule,
    NodeStateModule,
    NodeRequestsModule,
    NodeFilesModule,
    ExternalMonitorsModule,
    AgentsModule,
    OperationsModule,
    JobsModule,
    ClaimsModule,
    ChecksModule,
    AlarmsModule,
    WebhooksModule,
    RecordsModule,
    StatusModule,
    IdentityModule,
    IncidentsModule,
    WorkloadsModule,
    SnapshotModule,
    ExecuteModule,
    PlanModule,
    ConductorModule,
  ],
})
export class InventoryModule implements OnModuleInit {
  constructor(
    private readonly modules: ModuleRef,
    private readonly conductor: ConductorService,
  ) {}

  onModuleInit(): void {
    for (const task of tasksBy((by) => this.modules.get(by, { strict: false }))) this.conductor.add(task);
  }
}
