import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { PowerModule } from '../power/power.module.js';
import { ReportsModule } from '../reports/reports.module.js';
import { CordonEndReconciler } from './cordon-end.reconciler.js';
import { DegradedClock } from './degraded-clock.js';
import { DeletionsService } from './deletions.service.js';
import { EditForwardReconciler } from './edit-forward.reconciler.js';
import { EditsService } from './edits.service.js';
import { LifeSignsService } from './life-signs.service.js';
import { NodeFilesController } from './node-files.controller.js';
import { NodeFilesService } from './node-files.service.js';
import { RemovableNodes } from './removable-nodes.js';
import { ReplacementService } from './replacement.service.js';
import { FleetEvents } from './fleet-events.js';
import { NodeList } from './node-list.js';
import { NodesController } from './nodes.controller.js';
import { NodesService } from './nodes.service.js';
import { PowerSecrets } from './power-secrets.js';
import { VerdictCatchUpReconciler } from './verdict-catch-up.reconciler.js';
import { VerdictConsumer } from './verdict.consumer.js';
import { VerdictRetentionReconciler } from './verdict-retention.reconciler.js';
import { VerdictService } from './verdict.service.js';

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
