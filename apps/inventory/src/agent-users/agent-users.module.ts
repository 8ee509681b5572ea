import { Module } from '@nestjs/common';
import { AgentUsers } from './agent-users.js';
import { NatsUsers } from './nats-users.js';

@Module({ providers: [AgentUsers, NatsUsers], exports: [AgentUsers, NatsUsers] })
export class AgentUsersModule {}
