import type { WorkloadRecord } from '#contracts';
import type { Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';

/**
 * Before a command that ends what runs on nodes: where workloads are assigned there, a person is asked, and a script
 * needs `--yes`.
 * @param remedy what a script is told to repeat the command with
 * @throws Failure
 */
export async function askAboutWorkloads(
  run: Run,
  deed: string,
  nodes: string[],
  yes: boolean,
  remedy = '--yes if that is meant',
): Promise<void> {
  if (yes) return;
  const all = await run.server.all<WorkloadRecord>('/v1/workloads');
  const there = all.filter((w) => w.assignment !== undefined && nodes.includes(w.assignment.node));
  if (there.length === 0) return;
  const list = there.map((w) => `${w.name} on ${w.assignment?.node}`).join(', ');
  if (!run.terminal.canAsk) throw new Failure(`${deed}: workloads run there (${list}); repeat with ${remedy}`);
  if (!(await run.terminal.confirm(`${deed}: workloads run there (${list}). Go on?`)))
    throw new Failure('nothing was done');
}
