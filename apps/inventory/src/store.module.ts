import { Global, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { ServiceContext } from '#service';
import { AlarmService } from './alarms/alarm.service.js';
import { DetectorView } from './verdicts/detector-view.js';
import { DegradedWatch } from './nodes/degraded-watch.js';
import { NodeService } from './nodes/node.service.js';
import { ServiceView } from './nodes/service-view.js';
import { ReservationBook } from './operations/reservation-book.js';
import { AfterAnswer } from './store/after-answer.js';
import { AuditService } from './store/audit.service.js';
import { InventoryStore } from './store/inventory-store.js';
import { KnownNames, ownNameService } from './store/known-names.js';

@Injectable()
class StoreShutdown implements OnApplicationShutdown {
  constructor(private readonly store: InventoryStore) {}
  async onApplicationShutdown(): Promise<void> {
    await this.store.close();
  }
}

/** Provided here, for all. */
const shared = [
  AlarmService,
  NodeService,
  DetectorView,
  DegradedWatch,
  ServiceView,
  AuditService,
  AfterAnswer,
  ReservationBook,
];

/** What every part of inventory stands on; injectable anywhere in the app. */
@Global()
@Module({
  providers: [
    {
      provide: InventoryStore,
      inject: [ServiceContext],
      useFactory: (c: ServiceContext) =>
        InventoryStore.open(c.bus, {
          cluster: c.config.cluster,
          replicas: c.config.replicas,
          ...(c.config.nats.store !== undefined && { store: c.config.nats.store }),
          ...(c.config.keys.secrets !== undefined && { secretsFile: c.config.keys.secrets }),
        }),
    },
    {
      provide: KnownNames,
      inject: [ServiceContext],
      useFactory: (context: ServiceContext) => new KnownNames(context, ownNameService),
    },
    StoreShutdown,
    ...shared,
  ],
  exports: [InventoryStore, KnownNames, ...shared],
})
export class StoreModule {}
