import { Module } from '@nestjs/common';
import { CollateralWatch } from './collateral-watch.js';
import { ReportsView } from './reports-view.js';
import { StandingService } from './standing.service.js';
import { StartFactsService } from './start-facts.js';

@Module({
  providers: [CollateralWatch, ReportsView, StandingService, StartFactsService],
  exports: [CollateralWatch, ReportsView, StandingService, StartFactsService],
})
export class ReportsModule {}
