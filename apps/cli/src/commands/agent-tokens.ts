import type { Command } from 'commander';
import type { AgentToken, AgentTokenRequest } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { seconds, wholeNumber } from '../input/numbers.js';
import type { View } from '../output/printer.js';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';
import { agentKeyCommands } from './agent-keys.js';

const PATH = '/v1/agents/tokens';

export function agentCommands(program: Command): void {
  const agent = examples(
    program.command('agent').description('hosts that enrol themselves: muster-agent enroll'),
    'agent token create --ttl 1h --uses 10',
    'agent token list',
  );
  const token = examples(
    agent.command('token').description('what a host shows when it enrols itself'),
    'agent token create --ttl 1h --uses 10',
  );
  examples(
    does(
      token
        .command('create')
        .description('make a token; it is shown this once, and opens nothing but enrolment')
        .option('--ttl <duration>', 'ends by itself after 10m, 1h, 7d (default: 1h)')
        .option('--uses <nodes>', 'for so many nodes (default: 1)'),
      create,
    ),
    'agent token create --ttl 1h --uses 10',
    '$ muster agent token create | ssh host1 muster-agent enroll --server https://muster:9007 --token-file -',
  );
  examples(
    does(token.command('list').description('those that have not ended, and the nodes enrolled by each'), list),
    'agent token list',
  );
  examples(
    does(token.command('delete <id>').description('end a token; nodes that were enrolled with it stay'), remove),
    'agent token delete 9f86d081884c7d65',
  );
  agentKeyCommands(agent);
}

const view = (terminal: Terminal): View<AgentToken> => ({
  name: (t) => t.id,
  head: ['ID', 'BY', 'CREATED', 'UNTIL', 'USES', 'NODES'],
  row: (t) => [
    t.id,
    t.by,
    moment(t.createdAt, terminal),
    moment(t.expiresAt, terminal),
    `${t.usedBy.length} of ${t.uses}`,
    t.usedBy.join(' ') || 'none',
  ],
  none: 'no agent tokens',
});

async function create(run: Run, o: { ttl?: string; uses?: string }): Promise<void> {
  const request: AgentTokenRequest = {
    ...(o.ttl !== undefined && { ttl: seconds('--ttl', o.ttl) }),
    ...(o.uses !== undefined && { uses: wholeNumber('--uses', o.uses, 1) }),
  };
  const answer = await run.server.post<AgentToken & { token?: string }>(PATH, request);
  // Asked for a second time after a broken connection, the server does not show it again.
  if (answer.token === undefined)
    throw new Failure(`token ${answer.id} is made, but its secret was lost on the way: delete it, and make another`);
  if (await run.print.machine(answer, [answer.id])) return;
  // Alone on stdout: `muster agent token create | ssh …` sends the token.
  run.terminal.line(answer.token);
  const uses = `, for ${answer.uses} ${answer.uses === 1 ? 'node' : 'nodes'}`;
  run.terminal.note(
    `muster: agent token ${answer.id}, until ${moment(answer.expiresAt, run.terminal)}${uses}: it is not shown again`,
  );
}

async function list(run: Run): Promise<void> {
  const { items } = await run.server.get<{ items: AgentToken[] }>(PATH);
  await run.print.list(items, view(run.terminal));
}

async function remove(run: Run, id: string): Promise<void> {
  await run.server.exchange('DELETE', `${PATH}/${encodeURIComponent(id)}`);
  await run.print.done({ id }, id, `agent token ${id} is ended`);
}
