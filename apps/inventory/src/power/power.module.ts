import { Module } from '@nestjs/common';
import { ReportsModule } from '../reports/reports.module.js';
import { CollateralWatch } from './collateral-watch.js';
import { PowerQuarantine } from './power-quarantine.js';

@Module({
  imports: [ReportsModule],
  providers: [CollateralWatch, PowerQuarantine],
  exports: [CollateralWatch, PowerQuarantine],
})
export class PowerModule {}
