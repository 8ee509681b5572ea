import { Module } from '@nestjs/common';
import { PeerListService } from './peer-list.service.js';

@Module({ providers: [PeerListService] })
export class AgentsModule {}
