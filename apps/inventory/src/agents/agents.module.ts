import { Module } from '@nestjs/common';
import { AgentsController } from './agents.controller.js';
import { EnrolmentService } from './enrolment.service.js';
import { PeerListService } from './peer-list.service.js';

@Module({ controllers: [AgentsController], providers: [EnrolmentService, PeerListService] })
export class AgentsModule {}
