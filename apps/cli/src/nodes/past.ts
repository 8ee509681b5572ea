import type { Command } from 'commander';
import type { Verdict } from '#contracts';
import { does, examples, type Run } from '../command.js';
import { wholeNumber } from '../input/numbers.js';
import { eventLine } from '../output/event-line.js';
import type { StreamedEvent } from '../server/event-stream.js';
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
  examples(
    does(
      node.command('evidence <name>').description('what the others said of a node in the last verdict on it'),
      evidence,
    ),
    'node evidence host1-SN1',
  );
}

async function history(run: Run, name: string, o: { limit: string }): Promise<void> {
  const limit = wholeNumber('--limit', o.limit, 1);
  const { items } = await run.server.get<{ items: StreamedEvent[] }>(`${nodePath(name)}/history?limit=${limit}`);
  if (await run.print.machine({ items })) return;
  for (const event of items) run.terminal.line(eventLine(event, run.terminal));
}

async function evidence(run: Run, name: string): Promise<void> {
  const answer = await run.server.get<{ node: string; verdict: Partial<Verdict> | null }>(`${nodePath(name)}/evidence`);
  if (await run.print.machine(answer, [name])) return;
  const { verdict } = answer;
  run.terminal.line(
    `${name}: verdict: ${verdict?.verdict ?? 'none yet'}${verdict?.reason === undefined ? '' : `: ${verdict.reason}`}`,
  );
  const rows = (verdict?.evidence?.observers ?? []).map((o) => [
    `${o.observer} on ${o.network}`,
    o.stance,
    String(o.misses),
    o.rttUs === undefined ? '-' : `${o.rttUs} µs`,
  ]);
  run.print.rows(['OBSERVER', 'STANCE', 'MISSES', 'RTT'], rows, 'no observers');
}
