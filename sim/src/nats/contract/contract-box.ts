import type {
  Appended,
  MessageLog,
  ReadMessage,
  ReadSession,
  ReadStart,
  StreamConfig,
} from '#bus/ports/message-log.js';
import type { ContractClient, ContractWorld } from './contract-world.js';

export const ns = (ms: number): number => ms * 1_000_000;

interface PutOptions {
  expect?: number;
  id?: string;
  headers?: [string, string][];
  timeoutMs?: number;
}

/** What one case works with: a world, two clients in it, and a stream's name that no other case has. */
export class ContractBox {
  world!: ContractWorld;
  a!: ContractClient;
  b!: ContractClient;
  /** Of this case alone. */
  box = '';
  ids = 0;

  /** Of client a. */
  get log(): MessageLog {
    return this.a.messages;
  }

  async prepare(world: ContractWorld, name: string): Promise<void> {
    this.world = world;
    this.box = name;
    this.a = await world.client(`${name}-a`);
    this.b = await world.client(`${name}-b`);
  }

  async end(): Promise<void> {
    for (const client of [this.a, this.b]) await this.world.run(client.wire.close());
  }

  run<T>(work: Promise<T>): Promise<T> {
    return this.world.run(work);
  }

  /** What comes of a known id that expects what no longer holds. Servers between these two may do either. */
  again(seq: number): Appended[] {
    const known = { seq, duplicate: true };
    if (this.world.version.startsWith('2.9.')) return [known];
    const refused: Appended = { conflict: true };
    return this.world.version === '2.15.1' ? [refused] : [known, refused];
  }

  bucket(o: Partial<StreamConfig> = {}): Promise<StreamConfig> {
    return this.run(
      this.log.createStream({
        name: this.box,
        subjects: [`${this.box}.>`],
        max_msgs_per_subject: 1,
        allow_direct: false,
        deny_delete: true,
        discard: 'new' as StreamConfig['discard'],
        duplicate_window: ns(120_000),
        ...o,
      }),
    );
  }

  queue(o: Partial<StreamConfig> = {}): Promise<StreamConfig> {
    return this.bucket({
      max_msgs_per_subject: -1,
      discard: 'old' as StreamConfig['discard'],
      deny_delete: false,
      ...o,
    });
  }

  put(key: string, text: string | Uint8Array, o: PutOptions = {}, by = this.a): Promise<Appended> {
    return this.run(by.messages.append(`${this.box}.${key}`, text, { id: `id${++this.ids}`, timeoutMs: 5000, ...o }));
  }

  async seqOf(key: string, text: string | Uint8Array, o: PutOptions = {}): Promise<number> {
    const stored = await this.put(key, text, o);
    if (!('seq' in stored)) throw new Error('a conflict');
    return stored.seq;
  }

  /** A reading that writes down what it is told. */
  async reading(start: ReadStart, o: { filter?: string; hold?: (m: ReadMessage) => void | Promise<void> } = {}) {
    const { box, world } = this;
    const told: string[] = [];
    const seqs: number[] = [];
    const session: ReadSession = await this.run(
      this.log.read(box, {
        filter: o.filter ?? `${box}.>`,
        start,
        onMessage: (m) => {
          told.push(`${m.subject.slice(box.length + 1)}=${m.text}`);
          seqs.push(m.seq);
          return o.hold?.(m);
        },
        onLive: () => told.push('live'),
        onDoubt: (why) => told.push(`doubt: ${why}`),
      }),
    );
    return {
      session,
      told,
      seqs,
      until: (what: string) => world.until(() => told.includes(what)),
      doubted: () => world.until(() => told.some((t) => t.startsWith('doubt: '))),
    };
  }
}
