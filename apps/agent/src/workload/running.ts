import type { Clock } from '#contracts/ports/clock.js';
import { NAME_PATTERN } from '#contracts/names/names.js';
import { isRunningList, type RunningWorkload } from '#contracts/wire/report.js';
import { isGated } from './start-gate.js';
import { runCommand, runningUnits } from './systemctl.js';
import { allWorkloads, readWorkload } from './workload-files.js';

/** Workloads whose unit runs here, with the generation that they were last started under, and whether it has its gate. */
export async function listRunning(clock: Clock): Promise<RunningWorkload[]> {
  const known = await allWorkloads();
  const running = await runningUnits(
    clock,
    known.map((w) => w.unit),
  );
  return Promise.all(
    known
      .filter(({ unit }) => running.has(unit))
      .map(async ({ name, generation, unit }) => {
        const starting = running.get(unit) === 'starting' && { starting: true as const };
        return { name, generation, ...starting, gated: await isGated(unit, name) };
      }),
  );
}

/** ms. */
const LISTER_LIMIT = 5_000;

/**
 * The same from a configured command, which may vouch for a gate of its own (`gated`). Of what it says nothing of, the unit
 * of Muster's last order about it has a gate or has not; what Muster never started here has none. Throws where it fails
 * or prints anything else.
 */
export async function listByCommand(clock: Clock, [command, ...args]: string[]): Promise<RunningWorkload[]> {
  const { code, stdout, stderr } = await runCommand(clock, command as string, args, LISTER_LIMIT);
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${stderr.trim()}`);
  const found = JSON.parse(stdout) as unknown;
  if (!isRunningList(found))
    throw new Error(`${command} printed no list of {name, generation}: a text, and a whole number from 0 on`);
  return Promise.all(
    found.map(async ({ name, generation, starting, gated }) => ({
      name,
      generation,
      ...(starting === true && { starting }),
      gated: gated ?? (await hasGate(name)),
    })),
  );
}

/** What a tool calls its work need not be a name of ours. */
async function hasGate(name: string): Promise<boolean> {
  const known = NAME_PATTERN.test(name) ? await readWorkload(name) : undefined;
  return known !== undefined && isGated(known.unit, name);
}
