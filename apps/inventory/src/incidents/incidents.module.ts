import { Module } from '@nestjs/common';
import { IdentityModule } from '../identity/identity.module.js';
import { PowerModule } from '../power/power.module.js';
import { ReportsModule } from '../reports/reports.module.js';
import { VerdictsModule } from '../verdicts/verdicts.module.js';
import { FencingSettingsService } from './fencing-settings.service.js';
import { GateFactsService } from './gate-facts.js';
import { IncidentService } from './incident.service.js';
import { IncidentEvents } from './incident-events.js';
import { IncidentsController } from './incidents.controller.js';
import { Investigator } from './investigator.js';
import { OperatorOrders } from './operator-orders.service.js';
import { PermitService } from './permit.service.js';
import { PowerEvidence } from './power-evidence.js';
import { PowerOrders } from './power-orders.service.js';
import { PowerController } from './power.controller.js';
import { RecheckService } from './recheck.service.js';
import { StormsController } from './storms.controller.js';
import { StormsService } from './storms.service.js';

@Module({
  imports: [VerdictsModule, ReportsModule, PowerModule, IdentityModule],
  controllers: [IncidentsController, PowerController, StormsController],
  providers: [
    FencingSettingsService,
    GateFactsService,
    IncidentService,
    IncidentEvents,
    Investigator,
    OperatorOrders,
    PermitService,
    PowerEvidence,
    PowerOrders,
    RecheckService,
    StormsService,
  ],
  exports: [GateFactsService, IncidentService, Investigator, OperatorOrders, PermitService],
})
export class IncidentsModule {}
