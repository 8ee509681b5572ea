/**
 * What is random in specs: the same with each run, so that a red run is about the change that it tests, unless
 * `MUSTER_SEED` says otherwise. `npm run test:long` gives a new one, and more of everything by `MUSTER_RUNS_FACTOR`.
 */
export const SEED = number('MUSTER_SEED', 20_261_121);

/** How much longer than in `npm test` histories and properties are, and so how long a spec may take. @default 1 */
export const FACTOR = number('MUSTER_RUNS_FACTOR', 1);

/** So many runs, steps or changes in `npm test`. */
export const runs = (inTheGate: number): number => Math.ceil(inTheGate * FACTOR);

/** A source of 0 ≤ x < 1 (mulberry32, fast enough for a million inputs): the same from the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function number(name: string, otherwise: number): number {
  const given = process.env[name];
  if (given === undefined || given === '') return otherwise;
  const value = Number(given);
  if (!Number.isFinite(value) || value < 0) throw new Error(`${name}=${given} is no number`);
  return value;
}
