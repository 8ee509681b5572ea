import type { Command } from 'commander';
import type { PlanFigure, PlanItem, PlanView } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { askByPrefix } from '../nodes/by-prefix.js';
import type { View } from '../output/printer.js';
import { shortAge } from '../output/times.js';

export function planCommand(program: Command): void {
  examples(
    does(
      program
        .command('plan [node]')
        .description(
          'what the conductor would do next, what it waits for and why; in mode observe what it would have done',
        ),
      plan,
    ),
    'plan',
    'plan host2-L2',
    'plan | grep BRAKE',
    'plan --json | jq ".items[] | select(.does != \\"waits\\")"',
  );
}

const view: View<PlanItem> = {
  name: (i) => `${i.about}/${i.name}`,
  head: ['ABOUT', 'NAME', 'NEXT', 'WHY', 'AGAIN'],
  row: (i) => [i.about, i.name, next(i), why(i), again(i)],
  none: 'nothing to do, and nothing is waited for',
  lines: (i) => [
    `${i.about} ${i.name}: ${next(i)}: ${[i.reason, ...(i.figures ?? []).map(figure)].join(' ')} (again ${again(i)})`,
  ],
};

/** One that waits is told by what it waits to do. */
const next = (i: PlanItem): string => (i.does === 'waits' ? `waits: ${i.next}` : i.next);

const why = (i: PlanItem): string => [...(i.figures ?? []).map(figure), i.reason].join(' ');

/** `[3 unhealthy nodes, limit 2]`, `[held as hung: 4 s of 10 s]` */
function figure({ of, count, limit }: PlanFigure): string {
  if (!of.startsWith('ms ')) return `[${count} ${of}, limit ${limit}]`;
  return `[${of.slice('ms '.length)}: ${shortAge(count)} of ${shortAge(limit)}]`;
}

const again = ({ again: { inMs, when } }: PlanItem): string =>
  [inMs === undefined ? [] : [`in ${shortAge(inMs)}`], when === undefined ? [] : [`when ${when}`]].flat().join(', or ');

async function plan(run: Run, node: string | undefined): Promise<void> {
  const ask = (name?: string): Promise<PlanView> =>
    run.server.get<PlanView>(name === undefined ? '/v1/plan' : `/v1/plan?node=${encodeURIComponent(name)}`);
  const answer = node === undefined ? await ask() : await askByPrefix(run, node, ask);
  if (await run.print.machine(answer, answer.items.map(view.name))) return;
  if (answer.stale !== undefined) run.terminal.note(`muster: this may be old: ${answer.stale}`);
  await run.print.list(answer.items, view);
  if (run.terminal.interactive) run.terminal.line(`mode ${answer.mode}, decided by ${answer.conductor}`);
}
