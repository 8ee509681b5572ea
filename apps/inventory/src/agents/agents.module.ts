import { Module } from '@nestjs/common';
import { AgentTokensService } from './agent-tokens.service.js';
import { AgentUsers } from './agent-users.js';
import { AgentsController } from './agents.controller.js';
import { DatagramKeysService } from './datagram-keys.service.js';
import { EnrolmentService } from './enrolment.service.js';
import { PeerListService } from './peer-list.service.js';
import { RevocationReconciler } from './revocation.reconciler.js';
import { RevocationService } from './revocation.service.js';

@Module({
  controllers: [AgentsController],
  providers: [
    AgentTokensService,
    AgentUsers,
    DatagramKeysService,
    EnrolmentService,
    PeerListService,
    RevocationReconciler,
    RevocationService,
  ],
  exports: [AgentUsers, DatagramKeysService, RevocationService],
})
export class AgentsModule {}
