import { Module } from '@nestjs/common';
import { PowerModule } from '../power/power.module.js';
import { ReportsModule } from '../reports/reports.module.js';
import { OperationsController } from './operations.controller.js';
import { OperationsService } from './operations.service.js';

@Module({
  imports: [PowerModule, ReportsModule],
  controllers: [OperationsController],
  providers: [OperationsService],
  exports: [OperationsService],
})
export class OperationsModule {}
