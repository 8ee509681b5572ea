import { join } from 'node:path';
import { lastSaid, node } from './children.mjs';

/** Violations that are printed, of a run that has more; what follows a few is seldom another fault. */
const PRINTED = 20;

/**
 * A simulation to its end.
 * @returns its exit code, and what its last line says; `said.violations` is missing where it did not come to its end
 */
export async function simulate(...args) {
  const { code, text } = await node([join('dist', 'sim', 'src', 'run-sim.js'), ...args, '--json'], { read: true });
  return { code, said: lastSaid(text) };
}

/**
 * Random histories of a simulation, on as many processes as there are cores.
 * @returns how many broke no rule and how many did, each violation with the command that replays its history as `lines`
 */
export const histories = async (simulation, count, seed) =>
  outcomeOf(simulation, count, seed, await simulate(simulation, '--histories', String(count), '--seed', String(seed)));

/** What came of a series of random histories, by the exit code and the last line of its simulation. */
export function outcomeOf(simulation, count, seed, { code, said }) {
  const { violations } = said;
  const series = `${count} histories of sim -- ${simulation}, seed ${seed}`;
  if (violations === undefined)
    return { passed: 0, failed: 1, skipped: 0, lines: [`${series}: not played to the end (exit code ${code})`] };
  const broken = new Set(violations.map((v) => v.history)).size;
  const passed = said.histories - broken;
  if (broken === 0 && code !== 0)
    // As where something was met too rarely: it has said so itself.
    return { passed, failed: 1, skipped: 0, lines: [`${series}: no rule broken, exit code ${code}`] };
  const lines = violations
    .slice(0, PRINTED)
    .flatMap(({ history, time, rule, what }) => [
      `${simulation}, history ${history} of seed ${seed}, at ${time} ms: ${rule}: ${what}`,
      `  npm run sim -- ${simulation} --seed ${seed} --replay ${history}`,
    ]);
  const more = violations.length > PRINTED ? [`and ${violations.length - PRINTED} more violations`] : [];
  return {
    passed,
    failed: broken,
    skipped: 0,
    lines: [...lines, ...more, `${series}: ${broken === 0 ? 'no rule broken' : `rules broken in ${broken}`}`],
  };
}
