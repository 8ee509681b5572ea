import type { OnApplicationShutdown } from '@nestjs/common';
import { StoreWatch, type StoreFault } from '#bus';
import { bucketStream } from '#bus/store-names/kv-keys.js';
import { type ErrorCode, MusterError, ReadyStream, Streams } from '#contracts';
import type { ServiceContext } from '#service';

/** What a request ends with that the store has kept waiting, or has refused. */
const CAUSED: readonly ErrorCode[] = ['TIMEOUT', 'BUS_UNAVAILABLE', 'NO_RESPONDER', 'INTERNAL'];

/** Of the gateway's own looks at the store of NATS, for which it needs nobody. */
export class StoreHealth implements OnApplicationShutdown {
  private readonly watch: StoreWatch;
  private readonly replicas: number;
  private logged: StoreFault['kind'] | undefined;

  constructor(private readonly context: ServiceContext) {
    const { bus, config } = context;
    this.replicas = config.replicas;
    this.watch = new StoreWatch(bus, {
      path: config.nats.store,
      // Those that its user may ask for.
      streams: [ReadyStream.name, Streams.events.name, Streams.logs.name, ...OWN_BUCKETS.map(bucketStream)],
      restartsItself: config.nats.restarted,
      ...(config.replicas > 1 && { write: () => this.write() }),
      onChecked: () => this.log(),
    });
    this.watch.start();
  }

  onApplicationShutdown(): void {
    this.watch.close();
  }

  get fault(): StoreFault | undefined {
    return this.watch.fault;
  }

  /**
   * Why nothing can be written. A store that is silent or incomplete may still take what an operator needs most, a pause
   * or a cancellation, and with several servers the disk of this one is not the only one: then it is tried.
   */
  get refusal(): StoreFault | undefined {
    return this.replicas === 1 && this.fault?.kind === 'full' ? this.fault : undefined;
  }

  /**
   * With the store's fault in front, where that is why it failed.
   * @param identified who is answered may know where the store is
   */
  named(error: MusterError, identified: boolean): MusterError {
    return namedFault(error, this.fault, identified);
  }

  /** Leaves a mark of deletion under a key that nobody reads: the leader alone would refuse a write without a quorum. */
  private write(): Promise<void> {
    const { bus, config } = this.context;
    return bus.bucket('idempotency').delete(`ready.${config.instance}`, undefined, { timeoutMs: WRITE_LIMIT_MS });
  }

  private log(): void {
    const { fault } = this;
    if (fault?.kind === this.logged) return;
    this.logged = fault?.kind;
    if (fault === undefined) this.context.log.info('the store of NATS is as it should be again');
    else this.context.log.warn({ kind: fault.kind }, fault.message);
  }
}

/** The code stays, since it says what became of a write: after a TIMEOUT or a failure of ours it may have been done. */
export function namedFault(error: MusterError, fault: StoreFault | undefined, identified: boolean): MusterError {
  if (fault === undefined || !CAUSED.includes(error.code)) return error;
  const told = identified ? fault.message : fault.summary;
  const message = error.message === fault.summary ? told : `${told} (${error.message})`;
  return new MusterError(error.code, message, error.facts, { cause: error });
}

/** Of one try to write; the next look begins another, ms. */
const WRITE_LIMIT_MS = 1_000;

const OWN_BUCKETS = ['tokens', 'idempotency'] as const;
