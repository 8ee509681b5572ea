import type { Command } from 'commander';
import type { IncidentRecord, NodeView } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { wholeNumber } from '../input/numbers.js';
import { askAboutWorkloads } from '../input/workloads-at-stake.js';
import { watch } from '../command/watch.js';
import { awaitDrain } from './await-drain.js';
import { awaitIncident } from './await-incident.js';
import { nodePath } from './fetch-nodes.js';

export function drillCommand(node: Command): void {
  examples(
    does(
      node
        .command('drill <name>')
        .description(
          'prove that its power devices are its own: drained, switched off and on again; exit 1 if it is not shown',
        )
        .requiredOption('--reason <text>', 'why; kept with the incident')
        .option('--level <number>', 'the fencing level that is switched and proven, from 1', '1')
        .option('--yes', 'do not ask, also where workloads run there: they are moved away first'),
      (run: Run, name: string, { level, ...o }: { reason: string; level: string; yes?: boolean }) =>
        drill(run, name, { ...o, level: wholeNumber('--level', level, 1) }),
    ),
    'node drill host1-SN1 --reason "new rack"',
    'node drill host1-SN1 --level 2 --reason "new PDU"',
  );
}

/** What nothing runs on yet, so that a drill costs nobody anything: one after the other, until one shows nothing. */
export async function provePower(run: Run, names: readonly string[]): Promise<void> {
  for (const [i, name] of names.entries())
    try {
      // What was placed there since it was set up is moved away first.
      await drill(run, name, { reason: 'commissioned', yes: true });
    } catch (error) {
      const left = names.slice(i + 1);
      if (left.length > 0) run.terminal.note(`muster: not drilled: ${left.join(' ')}`);
      throw error;
    }
}

/** Each step is told as it is made. Whatever breaks it off leaves the node cordoned, and says so. */
export async function drill(
  run: Run,
  name: string,
  o: { reason: string; level?: number; yes?: boolean },
): Promise<void> {
  await askAboutWorkloads(run, `drill ${name}`, [name], o.yes === true, '--yes, which moves them away first');
  const before = await run.server.get<NodeView>(nodePath(name));
  const reason = `Drill: ${o.reason}`;
  if (before.cordon?.drain !== true)
    await run.server.exchange<NodeView>('PUT', `${nodePath(name)}/cordon`, { reason, drain: true });
  try {
    await awaitDrain(run, name);
    // An older server knows no level, and drills the first.
    const order = { reason: o.reason, ...((o.level ?? 1) > 1 && { level: o.level }) };
    const { id } = await run.server.post<IncidentRecord>(`${nodePath(name)}/drill`, order);
    await awaitIncident(run, name, id);
    const { drill: shown, bootId } = await run.server.get<IncidentRecord>(`/v1/incidents/${encodeURIComponent(name)}`);
    await awaitBoot(run, name, bootId);
    if (before.cordon === undefined) await run.server.exchange<NodeView>('DELETE', `${nodePath(name)}/cordon`);
    const detail = shown?.result?.detail ?? 'nobody judged it';
    if (shown?.result?.ok !== true) throw new Failure(`${name}: the drill shows nothing: ${detail}`);
    if (!run.print.forMachines) run.terminal.line(`${name}: proven by drill: ${detail}`);
  } catch (error) {
    const after = await run.server.get<NodeView>(nodePath(name));
    if (before.cordon === undefined && after.cordon !== undefined)
      run.terminal.note(`muster: ${name} stays cordoned: muster node uncordon ${name}`);
    throw error;
  }
}

async function awaitBoot(run: Run, name: string, before: string | undefined): Promise<void> {
  const watched = {
    look: () => run.server.get<NodeView>(nodePath(name)),
    kinds: 'node',
    concerns: () => true,
    goesOn: `${name} is being switched on; to look at it: muster node get ${name}`,
  };
  await watch(run, watched, (now) => now.state === 'Discovered' && now.bootId !== before);
  if (!run.print.forMachines) run.terminal.line(`${name}: it is on again, and is checked`);
}
