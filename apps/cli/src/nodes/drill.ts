import type { Command } from 'commander';
import type { IncidentRecord, NodeView, OutReason } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { wholeNumber } from '../input/numbers.js';
import { askAboutWorkloads } from '../input/workloads-at-stake.js';
import { watch } from '../command/watch.js';
import { awaitDrain } from './await-drain.js';
import { awaitIncident } from './await-incident.js';
import { nodePath } from './fetch-nodes.js';
import { Refusal } from '../server/server.js';

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

/**
 * What nothing runs on yet, so that a drill costs nobody anything: one node after the other, each by every fencing level
 * that it has, until one shows nothing.
 */
export async function provePower(run: Run, names: readonly string[]): Promise<void> {
  for (const [i, name] of names.entries())
    try {
      await proveNode(run, name);
    } catch (error) {
      const left = names.slice(i + 1);
      if (left.length > 0) run.terminal.note(`muster: not drilled: ${left.join(' ')}`);
      throw error;
    }
}

/** It stays cordoned from the first drill to the last: nothing is placed there in between. */
async function proveNode(run: Run, named: string): Promise<void> {
  const { name, cordon, powerLevels } = await run.server.get<NodeView>(nodePath(named));
  const levels = powerLevels.flatMap((devices, i) => (devices.length > 0 ? [i + 1] : []));
  if (levels.length === 0) throw new Failure(`${name} has no power device: muster node power-device add ${name} …`);
  const reason = 'commissioned';
  if (cordon?.drain !== true) await drain(run, name, reason);
  for (const [i, level] of levels.entries())
    try {
      if (levels.length > 1 && !run.print.forMachines)
        run.terminal.line(`${name}: drill of level ${level} (${i + 1} of ${levels.length})`);
      if (i > 0) await awaitBack(run, name);
      // What was placed there since it was set up is moved away first.
      await drill(run, name, { reason, level, yes: true });
    } catch (error) {
      const left = levels.slice(i + 1);
      if (left.length > 0) run.terminal.note(`muster: not drilled: ${name} by level ${left.join(', ')}`);
      if (cordon === undefined) noteCordoned(run, name);
      throw error;
    }
  if (cordon === undefined) await run.server.exchange<NodeView>('DELETE', `${nodePath(name)}/cordon`);
}

const drain = (run: Run, name: string, reason: string): Promise<NodeView> =>
  run.server.exchange<NodeView>('PUT', `${nodePath(name)}/cordon`, { reason: `Drill: ${reason}`, drain: true });

const noteCordoned = (run: Run, name: string): void =>
  run.terminal.note(`muster: ${name} stays cordoned: muster node uncordon ${name}`);

/** What its cordon leaves of a node that is on again: it is checked once, after the last drill. */
const leftByCordon: readonly OutReason['code'][] = ['CORDONED', 'MAINTENANCE', 'PENDING_RETURN'];

/** It is on again, and nothing else is under way on it. @throws Failure where its return is held */
async function awaitBack(run: Run, name: string): Promise<void> {
  const watched = {
    look: () => run.server.get<NodeView>(nodePath(name)),
    kinds: 'node,job,incident,in-service',
    concerns: () => true,
    goesOn: `${name} is coming back; to look at it: muster node get ${name}`,
  };
  await watch(run, watched, (now) => {
    const { held } = now.pendingReturn ?? {};
    if (held !== undefined) throw new Failure(`${name} does not come back from its drill: ${held}`);
    return now.reasons.every((r) => leftByCordon.includes(r.code));
  });
}

/** Each step is told as it is made. Whatever breaks it off leaves the node cordoned, and says so. */
async function drill(run: Run, name: string, o: { reason: string; level?: number; yes?: boolean }): Promise<void> {
  await askAboutWorkloads(run, `drill ${name}`, [name], o.yes === true, '--yes, which moves them away first');
  const before = await run.server.get<NodeView>(nodePath(name));
  if (before.cordon?.drain !== true) await drain(run, name, o.reason);
  try {
    await awaitDrain(run, name);
    // An older server knows no level, and drills the first.
    const order = { reason: o.reason, ...((o.level ?? 1) > 1 && { level: o.level }) };
    const { id } = await ordered(run, name, order);
    await awaitIncident(run, name, id);
    const { drill: shown, bootId } = await run.server.get<IncidentRecord>(`/v1/incidents/${encodeURIComponent(name)}`);
    await awaitBoot(run, name, bootId);
    if (before.cordon === undefined) await run.server.exchange<NodeView>('DELETE', `${nodePath(name)}/cordon`);
    const detail = shown?.result?.detail ?? 'nobody judged it';
    const by = o.level === undefined ? '' : ` of level ${o.level}`;
    if (shown?.result?.ok !== true) throw new Failure(`${name}: the drill${by} shows nothing: ${detail}`);
    if (!run.print.forMachines) run.terminal.line(`${name}: proven by drill${by}: ${detail}`);
  } catch (error) {
    const after = await run.server.get<NodeView>(nodePath(name));
    if (before.cordon === undefined && after.cordon !== undefined) noteCordoned(run, name);
    throw error;
  }
}

/** After a command to its power a node is left alone for some seconds: what is refused for that alone is asked again. */
async function ordered(run: Run, name: string, order: { reason: string; level?: number }): Promise<IncidentRecord> {
  let answer: IncidentRecord | undefined;
  const watched = {
    look: async (): Promise<boolean> => {
      try {
        answer = await run.server.post<IncidentRecord>(`${nodePath(name)}/drill`, order);
        return true;
      } catch (error) {
        if (error instanceof Refusal && error.code === 'NODE_BUSY') return false;
        throw error;
      }
    },
    kinds: 'incident',
    concerns: (data: Record<string, unknown>) => data['node'] === name,
    goesOn: `${name} is not drilled`,
  };
  await watch(run, watched, (isOrdered) => isOrdered);
  return answer as IncidentRecord;
}

async function awaitBoot(run: Run, name: string, before: string | undefined): Promise<void> {
  const watched = {
    look: () => run.server.get<NodeView>(nodePath(name)),
    kinds: 'node',
    concerns: () => true,
    goesOn: `${name} is being switched on; to look at it: muster node get ${name}`,
  };
  await watch(run, watched, (now) => now.state === 'Discovered' && now.bootId !== before);
  if (!run.print.forMachines) run.terminal.line(`${name}: it is on again`);
}
