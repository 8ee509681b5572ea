import { Module } from '@nestjs/common';
import { NodeRequestsModule } from '../node-requests/node-requests.module.js';
import { NodeFilesController } from './node-files.controller.js';
import { NodeFilesService } from './node-files.service.js';

@Module({
  imports: [NodeRequestsModule],
  controllers: [NodeFilesController],
  providers: [NodeFilesService],
})
export class NodeFilesModule {}
