import { type Bus, StoreWatch } from '#bus';
import { ReadyStream } from '#contracts';
import type { EmbeddedNats } from './embedded-nats.js';
import { decideRevival, type RevivalState } from './revival-decision.js';

/** Restarts the server of our own after a full disk; see {@link decideRevival}. */
export class NatsRevival {
  private state: RevivalState = { wasFull: false };
  private watching: StoreWatch | undefined;

  /** `store`: its folder. */
  constructor(
    private readonly nats: EmbeddedNats,
    private readonly store: string,
  ) {}

  /** By this connection, of a user who may ask for streams. */
  watch(bus: Bus): void {
    this.watching = new StoreWatch(bus, {
      path: this.store,
      streams: [ReadyStream.name],
      onChecked: (facts) => {
        const { state, restart } = decideRevival(this.state, facts, bus.clock.monotonicMs());
        this.state = state;
        if (restart !== undefined) this.nats.restart(restart);
      },
    }).start();
  }

  close(): void {
    this.watching?.close();
  }
}
