import { Module } from '@nestjs/common';
import { ReportsView } from './reports-view.js';
import { StartFactsService } from './start-facts.js';

@Module({
  providers: [ReportsView, StartFactsService],
  exports: [ReportsView, StartFactsService],
})
export class ReportsModule {}
