/**
 * Of scenarios that were run again before, the last run of each that is not among those of now: as it was, with the
 * commit, the seed and the date that it had.
 *
 * @param {{commit: string, date: string, seed: number, scenarios?: {name: string}[], earlier?: {name: string}[]} | undefined} before what the file of that run says; undefined: there is none
 * @param {readonly {name: string}[]} now
 */
export function earlierRuns(before, now) {
  if (before === undefined) return [];
  const { commit, date, seed, scenarios = [], earlier = [] } = before;
  const again = new Set(now.map((s) => s.name));
  return [...earlier, ...scenarios.map((s) => ({ ...s, commit, date, seed }))].filter((s) => !again.has(s.name));
}
