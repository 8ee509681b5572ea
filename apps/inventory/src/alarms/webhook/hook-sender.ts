import type { BusLog } from '#bus';
import { MusterError, type Clock, type MusterEvent, type Webhook } from '#contracts';
import type { AlarmService } from '../alarm.service.js';
import { FAILURES_UNTIL_ALARM, isWanted, pauseAfter, RETRY_FOR_MS } from './hook-policy.js';
import type { PostEvent } from './webhook-request.js';

export interface HookSenderOptions {
  name: string;
  /** As it is set now; undefined: it is gone. */
  hook(): Webhook | undefined;
  post: PostEvent;
  alarms: Pick<AlarmService, 'raise' | 'clear'>;
  log: BusLog;
  clock: Clock;
}

/** Sends events to one hook, one after the other: the next one goes out when this one has arrived, or is given up. */
export class HookSender {
  private failures = 0;
  private failingSince: number | undefined;
  private changed = new AbortController();

  constructor(private readonly o: HookSenderOptions) {}

  /** The hook may be another one now: what waits for its next try is tried at once. */
  wake(): void {
    this.changed.abort();
    this.changed = new AbortController();
  }

  /** @throws BUS_UNAVAILABLE where it was stopped before the event had arrived: another process is to go on */
  async deliver(event: MusterEvent<'alarm'>, stop: AbortSignal): Promise<void> {
    for (;;) {
      const hook = this.o.hook();
      if (hook === undefined || !isWanted(hook, event.data)) return;
      const why = await this.o.post(hook, event, { clock: this.o.clock, signal: stop });
      if (why === undefined) return this.succeeded();
      if (stop.aborted)
        throw new MusterError('BUS_UNAVAILABLE', `webhook ${hook.name}: this process ends before ${event.id} was sent`);
      await this.failed(why);
      if (this.o.clock.monotonicMs() - (this.failingSince ?? 0) > RETRY_FOR_MS) {
        this.o.log.warn({ webhook: hook.name, event: event.id, why }, 'an alarm event is given up for this webhook');
        return;
      }
      const signal = AbortSignal.any([stop, this.changed.signal]);
      await this.o.clock.sleep(pauseAfter(this.failures), { signal });
    }
  }

  private async succeeded(): Promise<void> {
    this.failures = 0;
    this.failingSince = undefined;
    // Also where another process has raised it.
    await this.writeAlarm(() => this.o.alarms.clear('webhook-failing', this.o.name));
  }

  private async failed(why: string): Promise<void> {
    this.failures += 1;
    this.failingSince ??= this.o.clock.monotonicMs();
    if (this.failures < FAILURES_UNTIL_ALARM) return;
    const message = `Webhook ${this.o.name} does not take alarms: ${why}. They are sent again and again for an hour.`;
    await this.writeAlarm(() => this.o.alarms.raise('webhook-failing', this.o.name, 'warning', message));
  }

  /** The event must not be lost with the word about it. */
  private async writeAlarm(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.o.log.warn({ webhook: this.o.name, reason: MusterError.from(error).message }, 'its alarm was not written');
    }
  }
}
