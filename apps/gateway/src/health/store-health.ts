import type { OnApplicationShutdown } from '@nestjs/common';
import { StoreWatch, type StoreTrouble } from '#bus';
import { bucketStream } from '#bus/kv/kv-keys.js';
import { type ErrorCode, MusterError, ReadyStream, Streams } from '#contracts';
import type { ServiceContext } from '#service';

/** What a request ends with that the store has kept waiting, or has refused. */
const CAUSED: readonly ErrorCode[] = ['TIMEOUT', 'BUS_UNAVAILABLE', 'NO_RESPONDER', 'INTERNAL'];

/** Of the gateway's own looks at the store of NATS, for which it needs nobody. */
export class StoreHealth implements OnApplicationShutdown {
  private readonly watch: StoreWatch;
  private readonly replicas: number;

  constructor({ bus, config }: ServiceContext) {
    this.replicas = config.replicas;
    this.watch = new StoreWatch(bus, {
      path: config.nats.store,
      // Those that its user may ask for.
      streams: [ReadyStream.name, Streams.events.name, Streams.logs.name, ...OWN_BUCKETS.map(bucketStream)],
      restartsItself: config.nats.restarted,
    }).start();
  }

  onApplicationShutdown(): void {
    this.watch.close();
  }

  get trouble(): StoreTrouble | undefined {
    return this.watch.trouble;
  }

  /**
   * Why nothing can be written. A store that is silent or incomplete may still take what an operator needs most, a pause
   * or a cancellation, and with several servers the disk of this one is not the only one: then it is tried.
   */
  get refusal(): StoreTrouble | undefined {
    return this.replicas === 1 && this.trouble?.kind === 'full' ? this.trouble : undefined;
  }

  /** With the store's trouble in front, where that is why it failed. The code stays: a TIMEOUT may have been done. */
  named(error: MusterError): MusterError {
    const trouble = this.trouble;
    if (trouble === undefined || !CAUSED.includes(error.code) || error.message.startsWith(trouble.message))
      return error;
    const code = error.code === 'INTERNAL' ? 'BUS_UNAVAILABLE' : error.code;
    return new MusterError(code, `${trouble.message} (${error.message})`, error.facts, { cause: error });
  }
}

const OWN_BUCKETS = ['tokens', 'idempotency'] as const;
