import { Injectable } from '@nestjs/common';
import { alarmKey, alarmRemedy, MusterError, type AlarmCode, type AlarmRecord, type AlarmView } from '#contracts';
import { isActive, isUpAs } from './active.js';
import { worstOf } from './severity.js';
import { InventoryStore } from '../store/inventory-store.js';

/** Nothing is decided by an alarm, and one that cannot be raised would be worse than one that was lost. */
const OVER_UNREADABLE = { overUnreadable: true };

/** Conditions that somebody should know about: raised once, cleared once, however often they are seen. */
@Injectable()
export class AlarmService {
  /** The active ones of these entries: whoever keeps alarms asks for them each round, and they change a few times a day. */
  private listed: { of: unknown; active: readonly AlarmRecord[] } | undefined;

  constructor(private readonly store: InventoryStore) {}

  /**
   * Idempotent: an alarm that is up already, with the same words, is left alone.
   * @param check called right before the write; throws where the right to write is gone. @default anybody may write it
   */
  async raise(
    code: AlarmCode,
    subject: string,
    severity: AlarmRecord['severity'],
    message: string,
    check?: () => void,
  ): Promise<AlarmRecord> {
    const key = alarmKey(code, subject);
    const seen = this.store.alarms.view.get(key)?.value;
    if (seen && isUpAs(seen, { severity, message })) return seen;
    const done = await this.store.alarms.bucket.mutate(
      key,
      (current) => {
        const was = current?.value;
        if (isUpAs(was, { severity, message })) return undefined;
        check?.();
        if (was && isActive(was)) {
          const { worst: _before, ...rest } = was;
          return { ...rest, severity, message, ...worstOf(was, severity) };
        }
        return { code, subject, severity, message, since: this.store.clock.wallMs(), count: (was?.count ?? 0) + 1 };
      },
      OVER_UNREADABLE,
    );
    if (done.value === undefined) throw new MusterError('INTERNAL', `alarm ${key} vanished while it was raised`);
    if (done.changed) await this.publish(done.value, done.revision);
    return done.value;
  }

  /** Idempotent: an alarm that is not up is left alone. @param check the same as of a raise */
  async clear(code: AlarmCode, subject: string, check?: () => void): Promise<void> {
    const key = alarmKey(code, subject);
    const seen = this.store.alarms.view.get(key)?.value;
    if (this.store.alarms.view.live && (!seen || !isActive(seen))) return;
    const done = await this.store.alarms.bucket.mutate(key, (current) => {
      if (!current || !isActive(current.value)) return undefined;
      check?.();
      return { ...current.value, cleared: this.store.clock.wallMs() };
    });
    if (done.changed && done.value) await this.publish(done.value, done.revision);
  }

  /**
   * `id` is `<code>=<subject>`. Acknowledging says "seen": the alarm stays until its condition is over. Who has more to
   * say than the one before takes his place; without a note the first one keeps it.
   */
  async acknowledge(id: string, by: string, note?: string): Promise<AlarmRecord> {
    const done = await this.store.alarms.bucket.mutate(id, (current) => {
      if (!current) throw new MusterError('NOT_FOUND', `there is no alarm "${id}"`, { alarm: id });
      const was = current.value.acknowledged;
      if (was !== undefined && (note === undefined || note === was.note)) return undefined;
      const acknowledged = { by, at: this.store.clock.wallMs(), ...(note !== undefined && { note }) };
      return { ...current.value, acknowledged };
    });
    if (done.value === undefined) throw new MusterError('NOT_FOUND', `there is no alarm "${id}"`, { alarm: id });
    if (done.changed) await this.publish(done.value, done.revision);
    return done.value;
  }

  /** Active ones first, newest first; `all` adds those that were cleared. */
  list(all = false): readonly AlarmRecord[] {
    const entries = this.store.alarms.view.entries();
    if (!all && this.listed?.of === entries) return this.listed.active;
    const records = entries.map((e) => e.value);
    if (all) return records.sort((a, b) => Number(isActive(b)) - Number(isActive(a)) || b.since - a.since);
    const active = records.filter(isActive).sort((a, b) => b.since - a.since);
    this.listed = { of: entries, active };
    return active;
  }

  private publish(alarm: AlarmRecord, revision: number): Promise<void> {
    return this.store.bus.emit('alarm', alarm.code, shownAlarm(alarm), {
      id: `alarm.${alarm.code}.${alarm.subject}.${revision}`,
    });
  }
}

/** With the first thing to do about it. */
export const shownAlarm = (a: AlarmRecord): AlarmView => ({ ...a, remedy: alarmRemedy(a) });
