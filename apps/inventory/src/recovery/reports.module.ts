import { Module } from '@nestjs/common';
import { CollateralWatch } from '../power/collateral-watch.js';
import { ReportsView } from '../reports/reports-view.js';
import { StandingService } from './standing.service.js';
import { StartFactsService } from '../reports/start-facts.js';

@Module({
  providers: [CollateralWatch, ReportsView, StandingService, StartFactsService],
  exports: [CollateralWatch, ReportsView, StandingService, StartFactsService],
})
export class ReportsModule {}
