import { Injectable } from '@nestjs/common';
import type { AlarmRecord } from '#contracts';
import { isActive } from '../alarms/active.js';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { SETTLE_MS } from '../conductor/settling.js';
import { AgeBook } from '../ages/age-book.js';
import { outdatedAlarms } from '../incidents/outdated-workers.js';
import { ServiceView } from '../nodes/service-view.js';
import { InventoryStore } from '../store/inventory-store.js';

/**
 * One event and one alarm for each driver that nodes need and nobody offers for {@link SETTLE_MS}; the alarm ends when one
 * does. And an alarm for each worker of a version that does not read what this one stores.
 */
@Injectable()
export class DriverReconciler implements Reconciler {
  private readonly told = new Map<string, number>();
  private readonly missingSince: AgeBook;
  private term: number | undefined;

  constructor(
    private readonly store: InventoryStore,
    private readonly service: ServiceView,
    private readonly alarms: AlarmService,
  ) {
    this.missingSince = new AgeBook(store.clock);
  }

  async reconcile(c: TaskRun): Promise<void> {
    // While the watch has a gap nobody knows who is alive: an alarm would be a guess.
    const blind = this.store.workers.stale || !this.store.nodes.view.live;
    // Who has just begun to look, or looks again, has not heard all workers yet.
    if (blind || c.token !== this.term) this.missingSince.keep([]);
    this.term = c.token;
    if (blind) return;
    await keepAlarms(this.alarms, ['worker-outdated'], outdatedAlarms(this.store.workers.live()), () => void c.check());
    const missing = this.service.missingDrivers();
    this.missingSince.keep(missing.map((m) => m.driver));
    for (const { driver, nodes } of missing) {
      // A worker that is started anew is back by then: its nodes are out of service meanwhile, and that is no news.
      if (this.missingSince.ageMs(driver) < SETTLE_MS) continue;
      c.check();
      const alarm = await this.alarms.raise(
        'no-workers',
        driver,
        'critical',
        `no live worker offers driver ${driver}: ${nodes.length} node(s) are out of service`,
      );
      // Raised `count` times so far: each time is one transition, and one event however often it is told.
      if (this.told.get(driver) !== alarm.count) await this.tell(driver, false, nodes.length, alarm.count);
      this.told.set(driver, alarm.count);
    }
    for (const alarm of this.active()) {
      const driver = alarm.subject;
      if (missing.some((m) => m.driver === driver)) continue;
      c.check();
      await this.alarms.clear('no-workers', driver);
      await this.tell(driver, true, 0, alarm.count);
    }
  }

  private active(): AlarmRecord[] {
    return this.store.alarms.view
      .entries()
      .map((e) => e.value)
      .filter((a) => a.code === 'no-workers' && isActive(a));
  }

  private tell(driver: string, offered: boolean, nodesAffected: number, count: number): Promise<void> {
    const key = driver.replaceAll(':', '_');
    const id = `driver.${key}.${count}.${offered ? 'on' : 'off'}`;
    return this.store.bus.emit('driver', key, { driver, offered, nodesAffected }, { id });
  }
}
