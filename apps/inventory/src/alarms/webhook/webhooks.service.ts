import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Closable } from '#bus';
import { Subjects, token, type Webhook } from '#contracts';
import { InventoryStore } from '../../store/inventory-store.js';
import { isActive } from '../active.js';
import { AlarmService } from '../alarm.service.js';
import { HookSender } from './hook-sender.js';
import { isAlarmEvent, type PostEvent } from './webhook-request.js';

interface RunningHook {
  sender: HookSender;
  consumer: Closable;
  stop: AbortController;
}

/**
 * Sends alarms to the webhooks of the settings. Each has a durable consumer of its own, which all replicas share and
 * which hands out one event at a time: their order is kept, what is not delivered yet survives any process, and a hook
 * that does not answer holds up no other.
 */
export class WebhooksService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly running = new Map<string, RunningHook>();
  private off: (() => void) | undefined;
  private closed = false;
  private following: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
    private readonly post: PostEvent,
  ) {}

  onApplicationBootstrap(): void {
    this.off = this.store.settings.view.onChange(() => this.follow());
    this.follow();
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    this.off?.();
    await this.following;
    await Promise.all([...this.running.values()].map((hook) => end(hook)));
  }

  private get hooks(): Webhook[] {
    return this.store.clusterSettings.webhooks;
  }

  private follow(): void {
    this.following = this.following
      .then(() => this.adjust())
      .catch((error: unknown) =>
        this.store.bus.log.error(
          { err: error },
          'the webhooks do not follow the settings; the next change tries again',
        ),
      );
  }

  private async adjust(): Promise<void> {
    if (this.closed) return;
    const names = new Set(this.hooks.map((h) => h.name));
    for (const name of names)
      if (!this.running.has(name)) this.running.set(name, this.begin(name));
      else this.running.get(name)?.sender.wake();
    for (const [name, hook] of this.running)
      if (!names.has(name)) {
        this.running.delete(name);
        await end(hook);
        // A hook of this name that is set up later begins with what comes then.
        await this.store.bus.removeConsumer(consumerOf(name));
      }
    for (const { code, subject } of this.alarms.list().filter(isActive))
      if (code === 'webhook-failing' && !names.has(subject)) await this.alarms.clear(code, subject);
  }

  private begin(name: string): RunningHook {
    const { bus } = this.store;
    const stop = new AbortController();
    const sender = new HookSender({
      name,
      hook: () => this.store.opened(this.hooks.find((h) => h.name === name)),
      post: this.post,
      alarms: this.alarms,
      log: bus.log,
      clock: bus.clock,
    });
    const consumer = bus.consume(
      consumerOf(name),
      [Subjects.event('alarm', '*')],
      async (subject, value) => {
        if (isAlarmEvent(value)) await sender.deliver(value, stop.signal);
        else bus.log.warn({ subject }, 'an alarm event that is none was dropped');
      },
      { newOnly: true, oneAtATime: true },
    );
    return { sender, consumer, stop };
  }
}

const consumerOf = (hook: string): string => `webhook-${token(hook)}`;

async function end(hook: RunningHook): Promise<void> {
  hook.stop.abort();
  await hook.consumer.close();
}
