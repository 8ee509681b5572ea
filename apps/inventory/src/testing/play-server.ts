import type { MemoryStore } from './memory-store.js';

interface Bucket {
  get: unknown;
  list: unknown;
  mutate: unknown;
}
type Ask = (key?: string, ...rest: never[]) => Promise<unknown>;

/** A server far away: what is asked of it at the same time is answered at the same time, a round trip later. */
export interface PlayedServer {
  /** What was asked for in each round trip until it is so. */
  until(isSo: () => boolean): Promise<{ trips: string[][] }>;
  /** Answers until that is done. */
  answer(done: Promise<unknown>): Promise<void>;
}

/** From now on every request to the store waits for its answer. */
export function playServer(store: MemoryStore): PlayedServer {
  const asked: { what: string; answer: () => void }[] = [];
  const trips: string[][] = [];
  const far = (what: string, ask: Ask): Ask => {
    return async (key, ...rest) => {
      await new Promise<void>((answer) => asked.push({ what: key === undefined ? what : `${what} ${key}`, answer }));
      return ask(key, ...rest);
    };
  };
  for (const table of ['nodes', 'incidents', 'workloads', 'jobs', 'alarms'] as const) {
    const bucket: Bucket = store[table].bucket;
    for (const does of ['get', 'list', 'mutate'] as const) bucket[does] = far(table, bucket[does] as Ask);
  }
  const trip = async (): Promise<void> => {
    // All that follows from the answers before is asked for by then.
    await new Promise((done) => void setImmediate(done));
    const now = asked.splice(0);
    if (now.length === 0) return;
    trips.push(now.map((a) => a.what));
    for (const { answer } of now) answer();
    await new Promise((done) => void setImmediate(done));
  };
  return {
    until: async (isSo) => {
      while (!isSo()) await trip();
      return { trips: [...trips] };
    },
    answer: async (done) => {
      let isDone = false;
      const end = done.finally(() => (isDone = true));
      while (!isDone) await trip();
      await end;
    },
  };
}
