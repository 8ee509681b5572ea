import { decode, encode, type Clock, type Random, type RecordCodec, type RecordSeal } from '#contracts';
import { UnreadableBook } from './unreadable-book.js';
import { Pulses } from '../pulse/pulses.js';
import type { BusLog } from './types.js';
import type { MessageLog } from './message-log.js';
import type { Wire, WireStatus } from './wire.js';

/** All that a bus stands on. Each process of a simulation has its own. */
export interface BusPorts {
  /** See {@link BusOptions.name}. */
  name: string;
  wire: Wire;
  messages: MessageLog;
  clock: Clock;
  random: Random;
  log: BusLog;
  /** Reads and writes the values of keys. @default the product's own, which knows each record */
  codec?: RecordCodec;
  /** Between records and the store. @default records are seen and written as they are stored */
  seal?: RecordSeal;
}

/** The ports of one process, and whether it is connected. */
export class Link implements Omit<BusPorts, 'codec' | 'seal'> {
  readonly name: string;
  readonly wire: Wire;
  readonly messages: MessageLog;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: BusLog;
  readonly decode: RecordCodec['decode'];
  readonly encode: RecordCodec['encode'];
  /** As {@link RecordSeal.seal}. */
  readonly seal: RecordSeal['seal'];
  /** What this process has found in buckets and cannot read. */
  readonly unreadable = new UnreadableBook();
  readonly pulses: Pulses;

  constructor(ports: BusPorts) {
    this.name = ports.name;
    this.wire = ports.wire;
    this.messages = ports.messages;
    this.clock = ports.clock;
    this.pulses = new Pulses(ports.clock);
    this.random = ports.random;
    this.log = ports.log;
    const { seal, codec } = ports;
    this.decode =
      codec?.decode ?? ((bucket, key, stored) => decode(bucket, key, stored, (b, record) => seal?.open(b, record)));
    this.encode = codec?.encode ?? encode;
    this.seal = (bucket, value) => (seal === undefined ? value : seal.seal(bucket, value));
  }

  get connected(): boolean {
    return this.wire.connected;
  }

  /** For good, by us. */
  get closed(): boolean {
    return this.wire.closed;
  }

  onStatus(fn: (status: WireStatus) => void): () => void {
    return this.wire.onStatus(fn);
  }

  /** Resolves to true once the connection stands, to false when `ms` passed, it was closed for good, or `signal` aborted. */
  whenConnected(ms: number, signal?: AbortSignal): Promise<boolean> {
    if (this.closed || signal?.aborted === true) return Promise.resolve(false);
    if (this.connected) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (ok: boolean): void => {
        timer.cancel();
        off();
        signal?.removeEventListener('abort', stop);
        resolve(ok);
      };
      const stop = (): void => end(false);
      const timer = this.clock.after(ms, stop);
      const off = this.onStatus((s) => end(s === 'connected'));
      signal?.addEventListener('abort', stop, { once: true });
    });
  }
}
