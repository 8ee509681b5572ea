import type { Command } from 'commander';
import { does, examples, type Run } from '../command/command.js';
import { UsageFailure } from '../failure/failure.js';
import { collapseEvents } from '../events/collapse-events.js';
import { eventLine, groupLine } from '../events/event-line.js';
import { parseDuration } from '../output/times.js';
import { eventsOf, type StreamedEvent } from '../server/event-stream.js';
import { NoServer } from '../server/ask.js';

interface EventOptions {
  follow?: boolean;
  kind?: string;
  node?: string;
  since?: string;
  all?: boolean;
}

const RECONNECT_MS = 1_000;

export function eventCommands(program: Command): void {
  examples(
    does(
      program
        .command('events')
        .description('what happened, oldest first')
        .option('-f, --follow', 'go on as it happens, also over a restart of the server')
        .option('--kind <kinds>', 'only these, separated by commas (verdict, incident, job, in-service, …)')
        .option('--node <node>', 'only what is about this node')
        .option('--since <duration>', 'the last 30s, 15m, 2h, 1d')
        .option('--all', 'on a terminal each verdict, also where many nodes got the same one together'),
      events,
    ),
    'events --since 1h --node host1-SN1',
    'events -f --kind verdict,incident',
  );
}

async function events(run: Run, o: EventOptions): Promise<void> {
  const query = new URLSearchParams({
    ...(o.kind !== undefined && { kind: o.kind }),
    ...(o.node !== undefined && { node: o.node }),
    ...(o.since !== undefined && { since: String(Date.now() - parseDuration(o.since)) }),
  });
  if (o.follow === true) return follow(run, query);
  query.set('limit', '1000');
  const { items } = await run.server.get<{ items: StreamedEvent[] }>(`/v1/events?${query.toString()}`);
  items.reverse();
  if (await run.print.machine({ items })) return;
  const { terminal } = run;
  // In a pipe every event is a line: scripts look for the node that they are about.
  const rows = terminal.interactive && o.all !== true ? collapseEvents(items) : items.map((event) => ({ event }));
  for (const row of rows)
    terminal.line('event' in row ? eventLine(row.event, terminal) : groupLine(row.at, row.text, terminal));
}

/** Never ends by itself: a server that goes away is waited for, and nothing is left out or shown twice. */
async function follow(run: Run, query: URLSearchParams): Promise<void> {
  if (run.print.forMachines && run.print.format !== 'json')
    throw new UsageFailure('events that go on come as lines, or with --json as one JSON value a line');
  let last: number | undefined;
  let reached = false;
  let told = false;
  for (;;) {
    try {
      for await (const event of eventsOf(run.server, query.toString(), last)) {
        last = event.seq;
        reached = true;
        told = false;
        run.terminal.line(run.print.format === 'json' ? JSON.stringify(event) : eventLine(event, run.terminal));
      }
    } catch (error) {
      // A server that was never there is a mistake in the command line more often than an outage.
      if (!(error instanceof NoServer) || !reached) throw error;
    }
    if (!told) run.terminal.note('muster: the stream ended; trying again');
    told = true;
    reached = true;
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
  }
}
