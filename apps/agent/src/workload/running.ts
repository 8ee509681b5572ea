import type { Clock } from '#contracts/ports/clock.js';
import { isRunningList, type RunningWorkload } from '#contracts/wire/report.js';
import { runCommand, runningUnits } from './systemctl.js';
import { allWorkloads } from './workload-files.js';

/** Workloads whose unit runs here, with the generation that they were last started under. */
export async function listRunning(clock: Clock): Promise<RunningWorkload[]> {
  const known = await allWorkloads();
  const running = await runningUnits(
    clock,
    known.map((w) => w.unit),
  );
  return known.flatMap(({ name, generation, unit }) => {
    const state = running.get(unit);
    if (state === undefined) return [];
    return [{ name, generation, ...(state === 'starting' && { starting: true as const }) }];
  });
}

/** ms. */
const LISTER_LIMIT = 5_000;

/** The same from a configured command. Throws where it fails or prints anything else. */
export async function listByCommand(clock: Clock, [command, ...args]: string[]): Promise<RunningWorkload[]> {
  const { code, stdout, stderr } = await runCommand(clock, command as string, args, LISTER_LIMIT);
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${stderr.trim()}`);
  const found = JSON.parse(stdout) as unknown;
  if (!isRunningList(found))
    throw new Error(`${command} printed no list of {name, generation}: a text, and a whole number from 0 on`);
  return found.map(({ name, generation, starting }) => ({ name, generation, ...(starting === true && { starting }) }));
}
