import { Injectable } from '@nestjs/common';
import type { AlarmCode, AlarmRecord, PendingReturn } from '#contracts';
import { AlarmService, isActive } from '../alarms/alarm.service.js';
import { ConductorService } from '../conductor/conductor.service.js';
import type { ConductorView, Reconciler } from '../conductor/reconciler.js';
import { InventoryStore } from '../store/inventory-store.js';
import { FLAPPING } from './return.js';

const ours: readonly AlarmCode[] = ['drift', 'resetup-failed', 'flapping', 'check-unreachable', 'check-failed'];
/** Failed tries after which a check that ssh does not get there with is told: sshd may only be starting. */
const UNREACHED_TRIES = 3;

/** The same of one that could not be carried out otherwise. */
const FAILED_TRIES = 3;

/** Which alarm a held return is. */
function heldAlarm(held: string): { code: AlarmCode; severity: AlarmRecord['severity'] } {
  if (held.startsWith('re-setup')) return { code: 'resetup-failed', severity: 'critical' };
  if (held.startsWith(FLAPPING)) return { code: 'flapping', severity: 'warning' };
  return { code: 'drift', severity: 'warning' };
}

/** What is to be said of a node that is back and does not serve; undefined: nothing. */
export function returnAlarm(
  node: string,
  p: PendingReturn | undefined,
): { code: AlarmCode; severity: AlarmRecord['severity']; message: string } | undefined {
  if (p?.held !== undefined) return { ...heldAlarm(p.held), message: `${node} is out of service: ${p.held}` };
  if (p?.unreached === undefined) return failedAlarm(node, p);
  const { tries, why } = p.unreached;
  if (tries < UNREACHED_TRIES) return undefined;
  return {
    code: 'check-unreachable',
    severity: 'warning',
    message: `${node} is back and is heard, but ssh did not get its check there ${tries} times: ${why}. It is tried again every minute at the latest; until one gets there the node is out of service.`,
  };
}

function failedAlarm(node: string, p: PendingReturn | undefined): ReturnType<typeof returnAlarm> {
  if (p?.failedTries === undefined || p.failedTries < FAILED_TRIES) return undefined;
  return {
    code: 'check-failed',
    severity: 'warning',
    message: `${node} is back, and its check could not be carried out ${p.failedTries} times: ${p.failedWhy ?? 'see its last check'}. It is tried again every five minutes at the latest; until one passes the node is out of service.`,
  };
}

/** One alarm for each return that waits for an operator or for ssh, as long as it does. */
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
      const alarm = returnAlarm(key, value.pendingReturn);
      if (alarm === undefined) continue;
      wanted.add(`${alarm.code} ${key}`);
      c.check();
      await this.alarms.raise(alarm.code, key, alarm.severity, alarm.message);
    }
    for (const { value: a } of this.store.alarms.view.entries()) {
      if (!isActive(a) || !ours.includes(a.code) || wanted.has(`${a.code} ${a.subject}`)) continue;
      c.check();
      await this.alarms.clear(a.code, a.subject);
    }
  }
}
