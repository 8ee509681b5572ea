import { Injectable } from '@nestjs/common';
import { type AlarmCode, type AlarmRecord } from '#contracts';
import { AlarmService, isActive } from '../alarms/alarm.service.js';
import { ConductorService } from '../conductor/conductor.service.js';
import type { ConductorView, Reconciler } from '../conductor/reconciler.js';
import { InventoryStore } from '../store/inventory-store.js';
import { FLAPPING } from './return.js';

const ours: readonly AlarmCode[] = ['drift', 'resetup-failed', 'flapping'];

/** Which alarm a held return is. */
export function heldAlarm(held: string): { code: AlarmCode; severity: AlarmRecord['severity'] } {
  if (held.startsWith('re-setup')) return { code: 'resetup-failed', severity: 'critical' };
  if (held.startsWith(FLAPPING)) return { code: 'flapping', severity: 'warning' };
  return { code: 'drift', severity: 'warning' };
}

/** One alarm for each return that waits for an operator, as long as it does. */
@Injectable()
export class ReturnAlarmsReconciler implements Reconciler {
  readonly name = 'return-alarms';

  constructor(
    conductor: ConductorService,
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
  ) {
    conductor.add(this);
  }

  async reconcile(c: ConductorView): Promise<void> {
    const wanted = new Set<string>();
    for (const { key, value } of this.store.nodes.view.entries()) {
      const held = value.pendingReturn?.held;
      if (held === undefined) continue;
      const { code, severity } = heldAlarm(held);
      wanted.add(`${code} ${key}`);
      c.check();
      await this.alarms.raise(code, key, severity, `${key} is out of service: ${held}`);
    }
    for (const { value: a } of this.store.alarms.view.entries()) {
      if (!isActive(a) || !ours.includes(a.code) || wanted.has(`${a.code} ${a.subject}`)) continue;
      c.check();
      await this.alarms.clear(a.code, a.subject);
    }
  }
}
