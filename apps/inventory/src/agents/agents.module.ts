import { Module } from '@nestjs/common';
import { ReportsModule } from '../reports/reports.module.js';
import { AgentTokensService } from './agent-tokens.service.js';
import { AgentUsers } from './agent-users.js';
import { AgentsController } from './agents.controller.js';
import { DatagramKeysService } from './datagram-keys.service.js';
import { EnrolmentService } from './enrolment.service.js';
import { KeyRotationReconciler } from './key-rotation.reconciler.js';
import { PeerListService } from './peer-list.service.js';
import { RevocationReconciler } from './revocation.reconciler.js';
import { RevocationService } from './revocation.service.js';

@Module({
  imports: [ReportsModule],
  controllers: [AgentsController],
  providers: [
    AgentTokensService,
    AgentUsers,
    DatagramKeysService,
    EnrolmentService,
    KeyRotationReconciler,
    PeerListService,
    RevocationReconciler,
    RevocationService,
  ],
  exports: [AgentUsers, DatagramKeysService, RevocationService],
})
export class AgentsModule {}
