import {
  generationFloor,
  MusterError,
  STORE_GENERATION_KEY,
  TOKEN_FLOOR_KEY,
  type StoreGeneration,
  type TokenFloor,
} from '#contracts';
import type { Bus } from '../bus/bus.js';
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
export async function raiseTokenFloor(bus: Bus, token: number): Promise<void> {
  await bus
    .bucket<TokenFloor>('settings')
    .mutate(TOKEN_FLOOR_KEY, (now) => ((now?.value.highest ?? 0) >= token ? undefined : { highest: token }), {
      overUnreadable: true,
    });
}

/**
 * Follows the leases that everybody contends for and keeps the highest of their tokens in mind, as each is taken. Those
 * of jobs are left out: nothing outlives them. One that fails is tried again at the next renewal.
 */
export function followTokens(bus: Bus): Closable {
  let kept = 0;
  const terms = new Map<string, string>();
  let raising: Promise<void> | undefined;
  const raise = async (token: number): Promise<void> => {
    try {
      await raiseTokenFloor(bus, token);
      kept = Math.max(kept, token);
    } catch (error) {
      bus.log.warn({ token, reason: MusterError.from(error).message }, 'the highest token was not noted yet');
    }
  };
  const watch = bus.bucket<LeaseRecord>('leases').watch({
    onChange: (name, lease, revision) => {
      if (lease === undefined || name.startsWith('job.')) return;
      const term = lease.nonce.slice(0, lease.nonce.lastIndexOf('.'));
      // The write that takes a lease may raise its token to its own revision; renewals carry what it became.
      const token = terms.get(name) === term ? lease.token : Math.max(lease.token, revision);
      terms.set(name, term);
      if (token > kept && raising === undefined) raising = raise(token).finally(() => (raising = undefined));
    },
  });
  return {
    close: async () => {
      await watch.close();
      await raising;
    },
  };
}
