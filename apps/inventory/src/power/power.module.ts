import { Module } from '@nestjs/common';
import { ReportsModule } from '../reports/reports.module.js';
import { IncidentAges } from './incident-ages.js';
import { PowerQuarantine } from './power-quarantine.js';

@Module({
  imports: [ReportsModule],
  providers: [IncidentAges, PowerQuarantine],
  exports: [IncidentAges, PowerQuarantine],
})
export class PowerModule {}
