import { Injectable } from '@nestjs/common';
import { alarmKey } from '#contracts';
import { isDegraded } from '#domain/verdict/networks-out.js';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { AgeBook } from '../ages/age-book.js';
import { InventoryStore } from '../store/inventory-store.js';
import { detectionAlarmCodes, detectionAlarms } from '../plan/alarms/detection-alarms.js';
import { DetectorView } from '../verdicts/detector-view.js';

const BLIND = 'blind';

/** Keeps the alarms about the detector, the networks and the names equal to what the detector says. */
@Injectable()
export class DetectionAlarmsReconciler implements Reconciler {
  private readonly blindSince: AgeBook;
  private readonly degradedSince: AgeBook;
  /** Nobody was listening before: an unheard detector is silent since this process began. */
  private readonly began: number;

  constructor(
    private readonly store: InventoryStore,
    private readonly detector: DetectorView,
    private readonly alarms: AlarmService,
  ) {
    this.blindSince = new AgeBook(store.clock);
    this.degradedSince = new AgeBook(store.clock);
    this.began = store.clock.monotonicMs();
  }

  async reconcile(c: TaskRun): Promise<void> {
    // Through a gap nobody knows which nodes there are: what is up stays up.
    if (!this.store.nodes.view.live || !this.store.alarms.view.live) return;
    const nodes = this.store.nodes.view.entries().map((e) => e.value);
    const { beacon, fresh, sighted } = this.detector;
    this.blindSince.keep(fresh && !sighted ? [BLIND] : []);
    this.degradedSince.keep(nodes.filter(isDegraded).map((n) => n.name));
    const wanted = detectionAlarms({
      silentForMs: this.detector.ageMs ?? this.store.clock.monotonicMs() - this.began,
      beacon: beacon && {
        fresh,
        sighted,
        members: beacon.members,
        reporters: beacon.sightedReporters,
        ...(beacon.conditions && { conditions: beacon.conditions }),
      },
      blindForMs: this.blindSince.ageMs(BLIND),
      nodes,
      degradedForMs: (node) => this.degradedSince.ageMs(node),
      active: new Map(this.alarms.list().map((a) => [alarmKey(a.code, a.subject), a])),
    });
    // A network that comes back does so node by node: each gets its time from then on.
    const down = new Set(wanted.filter((a) => a.code === 'network-down').map((a) => a.subject));
    for (const n of nodes)
      if (isDegraded(n) && n.verdict?.networks.every((network) => down.has(network)) === true)
        this.degradedSince.forget(n.name);
    await keepAlarms(this.alarms, detectionAlarmCodes, wanted, () => void c.check());
  }
}
