import type { Command } from 'commander';
import type { StormOutcome, StormView } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import type { View } from '../output/printer.js';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';

interface ActOptions {
  nodes?: string;
  reason: string;
  force?: boolean;
}

export function stormCommands(program: Command): void {
  const storm = examples(
    program
      .command('storm')
      .description('nodes that fell silent together: held back from fencing until they have healed'),
    'storm get',
  );
  examples(
    does(
      storm.command('get [id]').description('those that stand, or one of them: who is back, when fencing resumes'),
      get,
    ),
    'storm get',
    'storm get s-5d1c09aa',
  );
  for (const [verb, description] of [
    ['release', 'let members be fenced in spite of the storm; without --nodes all that are not back'],
    ['confirm', 'state that you have seen members to be down; without --nodes all that are not back'],
  ] as const) {
    const command = storm
      .command(`${verb} <id>`)
      .description(description)
      .option('--nodes <names>', 'only these members, separated by commas')
      .requiredOption('--reason <text>', 'why; kept with each incident');
    if (verb === 'confirm') command.option('--force', 'also a node that gives signs of life');
    examples(
      does(command, (run: Run, id: string, o: ActOptions) => act(run, verb, id, o)),
      `storm ${verb} s-5d1c09aa --reason "seen them dark in rack 4"`,
    );
  }
}

/** What made it; `blindness` is the code of the API. */
const causeText = ({ cause, domain }: StormView): string =>
  cause === 'blindness' ? 'no quorum' : domain === undefined ? cause : `${cause} ${domain}`;

/** What is not back, and how much of it may be for the storm to end by itself. */
const restText = ({ rest, limit, restDomain: d }: StormView): string =>
  d === undefined ? `${rest.length} (at most ${limit})` : `${rest.length} (${d.rest} of ${d.name}, at most ${limit})`;

const view = (terminal: Terminal): View<StormView> => ({
  name: (s) => s.id,
  head: ['STORM', 'CAUSE', 'SINCE', 'MEMBERS', 'BACK', 'REST', 'RESUMES'],
  row: (s) => [
    s.id,
    causeText(s),
    moment(s.at, terminal),
    String(s.members.length),
    String(s.returned.length),
    restText(s),
    s.resumesAt === undefined ? 'by an operator' : moment(s.resumesAt, terminal),
  ],
  none: 'no storm stands',
  screen: lines,
});

/** Each begins with the storm: readable, and greppable in a pipe. */
function lines(s: StormView): string[] {
  const list = (nodes: string[]): string => (nodes.length === 0 ? 'none' : nodes.join(', '));
  return [
    s.detail,
    `members: ${list(s.members)}`,
    `back: ${list(s.returned)}`,
    `rest: ${list(s.rest)}`,
    `released: ${list(s.released)}`,
    `resumes: ${s.resumesAt === undefined ? 'by an operator' : new Date(s.resumesAt).toISOString()}`,
  ].map((line) => `${s.id}: ${line}`);
}

async function get(run: Run, id: string | undefined): Promise<void> {
  if (id === undefined) {
    const { items } = await run.server.get<{ items: StormView[] }>('/v1/storms');
    await run.print.list(items, view(run.terminal));
  } else await run.print.one(await run.server.get<StormView>(path(id)), { ...view(run.terminal), lines });
}

const path = (id: string): string => `/v1/storms/${encodeURIComponent(id)}`;

async function act(run: Run, verb: string, id: string, o: ActOptions): Promise<void> {
  const body = {
    reason: o.reason,
    ...(o.nodes !== undefined && { nodes: o.nodes.split(',') }),
    ...(o.force === true && { force: true }),
  };
  const answer = await run.server.post<{ nodes: StormOutcome[] }>(`${path(id)}/${verb}`, body);
  const done = verb === 'release' ? 'released' : 'confirmed';
  if (
    !(await run.print.machine(
      answer,
      answer.nodes.map((n) => n.node),
    ))
  )
    for (const n of answer.nodes)
      run.terminal.line(`${n.node}: ${n.ok ? done : 'refused'}${n.detail === undefined ? '' : `: ${n.detail}`}`);
  const refused = answer.nodes.filter((n) => !n.ok).length;
  if (refused > 0) throw new Failure(`${refused} of ${answer.nodes.length} node(s) were not ${done}`);
}
