import type { FencingWorld } from './fencing-world.js';
import type { MemoryTable } from './memory-store.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * How many answers of the bus are waited for one after the other while this is done: all that is asked for at one moment
 * is answered together, and nothing is before that.
 */
export async function roundTrips({ store }: FencingWorld, act: () => Promise<unknown>): Promise<number> {
  const waiting: (() => void)[] = [];
  const trip = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const { bus } = store as unknown as { bus: { ask: (...args: unknown[]) => Promise<unknown> } };
  const { ask } = bus;
  bus.ask = async (...args) => {
    await trip();
    return ask(...args);
  };
  for (const table of [store.nodes, store.incidents, store.jobs, store.reservations, store.permits])
    delay(table as MemoryTable<unknown>, trip);
  let isDone = false;
  const done = act().finally(() => (isDone = true));
  let trips = 0;
  for (;;) {
    await turn();
    if (waiting.length === 0 && isDone) break;
    if (waiting.length === 0) continue;
    trips += 1;
    for (const answer of waiting.splice(0)) answer();
  }
  await done;
  return trips;
}

function delay({ bucket }: MemoryTable<unknown>, trip: () => Promise<void>): void {
  const { get, read, mutate } = bucket;
  bucket.get = async (key) => {
    await trip();
    return get(key);
  };
  bucket.read = async (key) => {
    await trip();
    return read(key);
  };
  // A read, and the write where there is one.
  bucket.mutate = async (key, fn) => {
    await trip();
    const done = await mutate(key, fn);
    if (done.changed) await trip();
    return done;
  };
}
