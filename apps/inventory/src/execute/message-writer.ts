import { Injectable } from '@nestjs/common';
import { AlarmService } from '../alarms/alarm.service.js';
import { isVerdict } from '../node-state/verdict.consumer.js';
import { VerdictService } from '../node-state/verdict.service.js';
import type { ClearAlarm, FetchVerdict, KeepVerdicts, PublishDriver, RaiseAlarm } from '../plan/intent.js';
import { InventoryStore } from '../store/inventory-store.js';
import { VerdictNow } from '../verdicts/verdict-now.js';
import { followedBy, NOTHING, WRITTEN, type Right, type Written } from './written.js';

/** Writes what is said: alarms, events of drivers, verdicts. */
@Injectable()
export class MessageWriter {
  /** Driver → id of the event that this process has told last. */
  private readonly toldOfDriver = new Map<string, string>();

  constructor(
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
    private readonly verdictNow: VerdictNow,
    private readonly verdicts: VerdictService,
  ) {}

  async raise(i: RaiseAlarm, c: Right): Promise<Written> {
    const { code, subject, severity, message } = i.alarm;
    const raised = await this.alarms.raise(code, subject, severity, message, () => void c.check());
    return followedBy(i.followedBy?.(raised));
  }

  async clear(i: ClearAlarm, c: Right): Promise<Written> {
    await this.alarms.clear(i.code, i.subject, () => void c.check());
    return followedBy(i.followedBy?.());
  }

  async publishDriver({ event, count }: PublishDriver): Promise<Written> {
    const key = event.driver.replaceAll(':', '_');
    const id = `driver.${key}.${count}.${event.offered ? 'on' : 'off'}`;
    if (this.toldOfDriver.get(key) === id) return NOTHING;
    await this.store.bus.emit('driver', key, event, { id });
    this.toldOfDriver.set(key, id);
    return WRITTEN;
  }

  async keepVerdicts({ newest }: KeepVerdicts, c: Right): Promise<Written> {
    for (const [node, keep] of newest) {
      c.check();
      await this.store.bus.keepVerdicts(node, keep);
    }
    return WRITTEN;
  }

  /** Where the detector does not answer it is asked again by the next plan. */
  async fetchVerdict(i: FetchVerdict): Promise<Written> {
    const verdict = await this.verdictNow.of(i.node);
    if (!isVerdict(verdict)) return NOTHING;
    await this.verdicts.apply(verdict);
    return WRITTEN;
  }
}
