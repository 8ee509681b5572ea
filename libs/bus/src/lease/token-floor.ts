import {
  generationFloor,
  MusterError,
  STORE_GENERATION_KEY,
  TOKEN_FLOOR_KEY,
  type StoreGeneration,
  type TokenFloor,
} from '#contracts';
import type { Bus } from '../bus/bus.js';
import type { KvView } from '../kv/kv-view.js';
import type { Closable } from '../ports/types.js';
import type { LeaseRecord } from './lease-decide.js';

/**
 * What a lease's `floor` answers: the highest token that is known apart from bucket `leases`, and at least that of the
 * store's generation.
 * @param held the highest in the records that the lease guards; undefined: they are not all known now
 * @throws MusterError BUS_UNAVAILABLE where they are not, and as a read of a bucket
 */
export async function tokenFloor(bus: Bus, held: () => number | undefined): Promise<number> {
  const [found, copy] = await Promise.all([
    bus.bucket<TokenFloor>('settings').read(TOKEN_FLOOR_KEY),
    bus.bucket<StoreGeneration>('settings').read(STORE_GENERATION_KEY),
  ]);
  // Where one cannot be read the other and the guarded records have to do: a broken value must not end every lease.
  const kept = found !== undefined && 'value' in found ? found : undefined;
  const generation = copy !== undefined && 'value' in copy ? copy.value.generation : 0;
  const highest = held();
  if (highest === undefined)
    throw new MusterError('BUS_UNAVAILABLE', 'the records that the lease guards are not all known');
  return Math.max(highest, kept?.value.highest ?? 0, generationFloor(generation));
}

/** Keeps in mind that a lease had this token. Only grows. */
async function raiseTokenFloor(bus: Bus, token: number): Promise<void> {
  await bus
    .bucket<TokenFloor>('settings')
    .mutate(TOKEN_FLOOR_KEY, (now) => ((now?.value.highest ?? 0) >= token ? undefined : { highest: token }), {
      overUnreadable: true,
    });
}

/**
 * Keeps in mind, apart from bucket `leases`, the highest token of the leases that everybody contends for. Those of jobs are
 * left out: nothing outlives them.
 */
export class TokenMemory implements Closable {
  private kept = 0;
  private seen = 0;
  private noting: Promise<void> | undefined;
  private readonly terms = new Map<string, string>();
  private readonly off: () => void;

  private constructor(
    private readonly bus: Bus,
    private readonly leases: KvView<LeaseRecord>,
  ) {
    for (const { key } of leases.entries()) this.learn(key);
    this.off = leases.onChange((name) => this.learn(name));
  }

  /** Notes each token as it is taken. One that fails is tried again at the next renewal. The view stays open at its end. */
  static follow(bus: Bus, leases: KvView<LeaseRecord>): TokenMemory {
    return new TokenMemory(bus, leases);
  }

  /**
   * Resolves once this token, or a higher one, is stored. Whoever lets a new holder act asks for it first: the watch may not
   * have seen the new term yet, and with bucket and holder gone nobody would know of it.
   * @throws MusterError as a write
   */
  async keep(token: number): Promise<void> {
    if (token <= this.kept) return;
    await raiseTokenFloor(this.bus, token);
    this.kept = Math.max(this.kept, token);
  }

  async close(): Promise<void> {
    this.off();
    await this.noting;
  }

  private learn(name: string): void {
    const shown = this.leases.get(name);
    if (shown !== undefined && !name.startsWith('job.')) this.see(name, shown.value, shown.revision);
  }

  private see(name: string, lease: LeaseRecord, revision: number): void {
    const term = lease.nonce.slice(0, lease.nonce.lastIndexOf('.'));
    // The write that takes a lease may raise its token to its own revision; renewals carry what it became.
    const token = this.terms.get(name) === term ? lease.token : Math.max(lease.token, revision);
    this.terms.set(name, term);
    this.seen = Math.max(this.seen, token);
    this.noting ??= this.note().finally(() => (this.noting = undefined));
  }

  private async note(): Promise<void> {
    try {
      while (this.seen > this.kept) await this.keep(this.seen);
    } catch (error) {
      const { message } = MusterError.from(error);
      this.bus.log.warn({ token: this.seen, reason: message }, 'the highest token was not noted yet');
    }
  }
}
