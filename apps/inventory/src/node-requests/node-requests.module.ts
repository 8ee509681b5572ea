import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { PowerModule } from '../power/power.module.js';
import { ReportsModule } from '../reports/reports.module.js';
import { DeletionsService } from './deletions.service.js';
import { EditsService } from './edits.service.js';
import { LifeSignsService } from './life-signs.service.js';
import { NodeList } from './node-list.js';
import { NodesController } from './nodes.controller.js';
import { NodesService } from './nodes.service.js';
import { PowerSecrets } from './power-secrets.js';
import { RemovableNodes } from './removable-nodes.js';
import { ReplacementService } from './replacement.service.js';

@Module({
  imports: [ReportsModule, PowerModule, AgentsModule],
  controllers: [NodesController],
  providers: [
    DeletionsService,
    EditsService,
    LifeSignsService,
    NodeList,
    NodesService,
    PowerSecrets,
    RemovableNodes,
    ReplacementService,
  ],
  exports: [EditsService, PowerSecrets],
})
export class NodeRequestsModule {}
