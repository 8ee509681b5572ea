import type { Command } from 'commander';
import { does, examples, type Run } from '../command/command.js';
import { wholeNumber } from '../input/numbers.js';
import { eventLine } from '../events/event-line.js';
import type { StreamedEvent } from '../server/event-stream.js';
import { askByPrefix } from './by-prefix.js';
import { nodePath } from './fetch-nodes.js';

export function pastCommands(node: Command): void {
  examples(
    does(
      node
        .command('history <name>')
        .description('what happened to a node, newest first')
        .option('-n, --limit <number>', 'at most so many', '100'),
      history,
    ),
    'node history host1-SN1',
    'node history host1-SN1 -n 5 --json',
  );
}

async function history(run: Run, name: string, o: { limit: string }): Promise<void> {
  const limit = wholeNumber('--limit', o.limit, 1);
  const { items } = await askByPrefix(run, name, (full) =>
    run.server.get<{ items: StreamedEvent[] }>(`${nodePath(full)}/history?limit=${limit}`),
  );
  if (await run.print.machine({ items })) return;
  for (const event of items) run.terminal.line(eventLine(event, run.terminal));
}
