import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { ServiceContext } from '#service';
import { BearerGuard } from '../auth/bearer.guard.js';
import { OpenNetworks } from '../auth/open-networks.js';
import { Tokens } from '../auth/tokens.js';
import { CheckedPipe } from '../body/checked.pipe.js';
import { ConfigController } from '../clusterm/config.controller.js';
import { InfoController } from '../clusterm/info.controller.js';
import { ClustermOperationsController } from '../clusterm/operations.controller.js';
import { EventHistory } from '../events/event-history.js';
import { EventsController } from '../events/events.controller.js';
import { HealthController } from '../health/health.controller.js';
import { Metrics } from '../health/metrics.js';
import { StoreHealth } from '../store/store-health.js';
import { DocsController } from '../openapi/docs.controller.js';
import { ApiDocument } from '../openapi/document.js';
import { IdempotencyInterceptor } from '../idempotency/idempotency.interceptor.js';
import { KeptAnswers } from '../idempotency/kept-answers.js';
import { JobLog } from '../rpc/job-log.js';
import { NodeReads } from '../rpc/node-reads.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { AgentsController } from '../v1/agents.controller.js';
import { AlarmsController } from '../v1/alarms.controller.js';
import { RecordsController } from '../v1/records.controller.js';
import { ClaimsController } from '../v1/claims.controller.js';
import { FencingController } from '../v1/fencing.controller.js';
import { FencingReports } from '../v1/fencing-reports.js';
import { IncidentReports } from '../v1/incident-reports.js';
import { IncidentsController } from '../v1/incidents.controller.js';
import { StormsController } from '../v1/storms.controller.js';
import { JobsController } from '../v1/jobs.controller.js';
import { EvidenceService } from '../v1/node-evidence.js';
import { NodeFilesController } from '../v1/node-files.controller.js';
import { NodesController } from '../v1/nodes.controller.js';
import { OperationsController } from '../v1/operations.controller.js';
import { SettingsController } from '../v1/settings.controller.js';
import { PowerController } from '../v1/power.controller.js';
import { StatusController } from '../v1/status.controller.js';
import { TokensController } from '../v1/tokens.controller.js';
import { WorkloadsController } from '../v1/workloads.controller.js';
import { ProblemFilter } from './problem.filter.js';
import { ResourceInterceptor } from './resource.interceptor.js';

/** Both surfaces, for one connection to the bus. */
@Module({})
export class HttpModule {
  static for(context: ServiceContext, tokens: Tokens, open: OpenNetworks): DynamicModule {
    return {
      module: HttpModule,
      controllers: [
        StatusController,
        NodesController,
        NodeFilesController,
        PowerController,
        OperationsController,
        JobsController,
        ClaimsController,
        IncidentsController,
        StormsController,
        FencingController,
        WorkloadsController,
        AlarmsController,
        RecordsController,
        SettingsController,
        TokensController,
        AgentsController,
        EventsController,
        InfoController,
        ConfigController,
        ClustermOperationsController,
        HealthController,
        DocsController,
      ],
      providers: [
        { provide: ServiceContext, useValue: context },
        { provide: Tokens, useValue: tokens },
        { provide: OpenNetworks, useValue: open },
        { provide: APP_GUARD, useClass: BearerGuard },
        { provide: APP_PIPE, useClass: CheckedPipe },
        { provide: APP_INTERCEPTOR, useClass: ResourceInterceptor },
        { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
        { provide: KeptAnswers, useFactory: () => new KeptAnswers(context.bus, context.config.instance) },
        { provide: StoreHealth, useFactory: () => new StoreHealth(context) },
        {
          provide: APP_FILTER,
          inject: [StoreHealth],
          useFactory: (store: StoreHealth) => new ProblemFilter(context.log, store),
        },
        RpcClient,
        NodeReads,
        JobLog,
        EventHistory,
        FencingReports,
        IncidentReports,
        EvidenceService,
        Metrics,
        ApiDocument,
      ],
    };
  }
}
