import { Module } from '@nestjs/common';
import { JobsController } from './jobs.controller.js';
import { OperationsModule } from '../operations/operations.module.js';
import { JobsService } from './jobs.service.js';

@Module({
  imports: [OperationsModule],
  controllers: [JobsController],
  providers: [JobsService],
  exports: [JobsService],
})
export class JobsModule {}
