import type { NodeView } from '#contracts';
import type { Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { watch } from '../command/watch.js';
import { nodePath } from './fetch-nodes.js';

/** Tells which workloads are still on a node, until the last has left. @throws Failure where the drain was ended */
export async function awaitDrain(run: Run, name: string): Promise<void> {
  let told = '';
  const watched = {
    look: () => run.server.get<NodeView>(nodePath(name)),
    kinds: 'workload',
    concerns: () => true,
    goesOn: `${name} goes on being drained; to look at it: muster node get ${name}`,
  };
  const node = await watch(run, watched, (now) => {
    const there = now.remaining ?? [];
    if (now.cordon?.drain !== true) throw new Failure(`${name} is no longer being drained`);
    const text = there.length === 0 ? 'no workloads are left' : `still there: ${there.join(' ')}`;
    if (text !== told && !run.print.forMachines) run.terminal.line(`${name}: ${text}`);
    told = text;
    return now.cordon.drained !== undefined;
  });
  if (!(await run.print.machine(node, [name]))) run.terminal.line(`${name}: drained`);
}
