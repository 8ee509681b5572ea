import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { PowerModule } from '../power/power.module.js';
import { ReportsModule } from '../reports/reports.module.js';
import { CordonEndReconciler } from '../nodes/cordon-end.reconciler.js';
import { DegradedClock } from '../node-state/degraded-clock.js';
import { DeletionsService } from '../node-requests/deletions.service.js';
import { EditForwardReconciler } from '../node-requests/edit-forward.reconciler.js';
import { EditsService } from '../node-requests/edits.service.js';
import { LifeSignsService } from '../node-requests/life-signs.service.js';
import { NodeFilesController } from './node-files.controller.js';
import { NodeFilesService } from './node-files.service.js';
import { RemovableNodes } from '../node-requests/removable-nodes.js';
import { ReplacementService } from '../node-requests/replacement.service.js';
import { FleetEvents } from '../node-state/fleet-events.js';
import { NodeList } from '../node-requests/node-list.js';
import { NodesController } from '../node-requests/nodes.controller.js';
import { NodesService } from '../node-requests/nodes.service.js';
import { PowerSecrets } from '../node-requests/power-secrets.js';
import { VerdictCatchUpReconciler } from '../node-state/verdict-catch-up.reconciler.js';
import { VerdictConsumer } from '../node-state/verdict.consumer.js';
import { VerdictRetentionReconciler } from '../node-state/verdict-retention.reconciler.js';
import { VerdictService } from '../node-state/verdict.service.js';

@Module({
  imports: [ReportsModule, PowerModule, AgentsModule],
  controllers: [NodesController, NodeFilesController],
  providers: [
    CordonEndReconciler,
    DegradedClock,
    DeletionsService,
    EditForwardReconciler,
    EditsService,
    NodeFilesService,
    RemovableNodes,
    ReplacementService,
    FleetEvents,
    LifeSignsService,
    NodeList,
    NodesService,
    PowerSecrets,
    VerdictCatchUpReconciler,
    VerdictConsumer,
    VerdictRetentionReconciler,
    VerdictService,
  ],
  exports: [FleetEvents],
})
export class NodesModule {}
