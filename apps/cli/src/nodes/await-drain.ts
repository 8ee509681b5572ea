import type { NodeView, WorkloadRecord } from '#contracts';
import type { Run } from '../command.js';
import { Failure } from '../failure.js';
import { watch } from '../watch.js';
import { nodePath } from './fetch-nodes.js';

interface Look {
  node: NodeView;
  there: string[];
}

/** Tells which workloads are still on a node, until the last has left. @throws Failure where the drain was ended */
export async function awaitDrain(run: Run, name: string): Promise<void> {
  let told = '';
  const watched = {
    look: () => lookAt(run, name),
    kinds: 'workload',
    concerns: () => true,
    goesOn: `${name} goes on being drained; to look at it: muster node get ${name}`,
  };
  const { node } = await watch(run, watched, ({ node: now, there }) => {
    if (now.cordon?.drain !== true) throw new Failure(`${name} is no longer being drained`);
    const text = there.length === 0 ? 'no workloads are left' : `still there: ${there.join(' ')}`;
    if (text !== told && !run.print.forMachines) run.terminal.line(`${name}: ${text}`);
    told = text;
    return now.cordon.drained !== undefined;
  });
  if (!(await run.print.machine(node, [name]))) run.terminal.line(`${name}: drained`);
}

async function lookAt(run: Run, name: string): Promise<Look> {
  const node = await run.server.get<NodeView>(nodePath(name));
  const workloads = await run.server.all<WorkloadRecord>('/v1/workloads');
  return { node, there: workloads.filter((w) => w.assignment?.node === name).map((w) => w.name) };
}
