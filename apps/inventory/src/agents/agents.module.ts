import { Module } from '@nestjs/common';
import { AgentTokensService } from './agent-tokens.service.js';
import { AgentUsersModule } from '../agent-users/agent-users.module.js';
import { AgentsController } from './agents.controller.js';
import { DatagramKeysService } from './datagram-keys.service.js';
import { EnrolmentService } from './enrolment.service.js';
import { PeerListService } from './peer-list.service.js';
import { RevocationService } from './revocation.service.js';

@Module({
  imports: [AgentUsersModule],
  controllers: [AgentsController],
  providers: [AgentTokensService, DatagramKeysService, EnrolmentService, PeerListService, RevocationService],
  exports: [AgentUsersModule, DatagramKeysService, RevocationService],
})
export class AgentsModule {}
