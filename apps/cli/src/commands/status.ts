import type { Command } from 'commander';
import type { StatusView } from '#contracts';
import type { FencingReport, Observing } from '#contracts/incident/fencing-report.js';
import { does, examples, type Run } from '../command/command.js';
import { judge } from '../output/judge.js';
import { DAYS, statusScreen } from '../output/status-screen.js';
import { NoServer } from '../server/ask.js';
import { Refusal } from '../server/server.js';

export function statusCommand(program: Command): void {
  const command = program
    .command('status')
    .description('the whole on one screen')
    .addHelpText(
      'after',
      '\nBehind each line, in brackets: the first thing to do.\n\nExit code: 0 all is well · 1 something needs attention or is suspect and being probed, or no server can be asked · 2 fencing or detection does not work, or an incident is stuck',
    );
  examples(does(command, status), 'status', 'status --json | jq .nodes');
}

async function status(run: Run): Promise<number> {
  const view = await run.server.get<StatusView>('/v1/status');
  if (!(await run.print.machine(view, [view.cluster]))) {
    const observed = view.fencing.mode === 'observe' ? await observing(run) : undefined;
    for (const line of statusScreen(view, run.terminal, observed)) run.terminal.line(line);
  }
  return judge(view);
}

/** In the last {@link DAYS}, or why it is not known now; undefined: a server of before does not know the question. */
async function observing(run: Run): Promise<Observing | string | undefined> {
  try {
    return (await run.server.get<FencingReport>(`/v1/fencing/report?days=${DAYS}`)).observing;
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined;
    // What is known already is printed all the same, and "not known" is not "none".
    if (error instanceof Refusal || error instanceof NoServer) return error.message;
    throw error;
  }
}
