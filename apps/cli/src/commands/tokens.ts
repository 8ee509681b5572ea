import type { Command } from 'commander';
import type { TokenRecord, TokenRequest } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure, UsageFailure } from '../failure/failure.js';
import { seconds } from '../input/numbers.js';
import type { View } from '../output/printer.js';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';

type KnownToken = TokenRecord & { id: string };
const ROLES = ['viewer', 'operator', 'admin'] as const;

export function tokenCommands(program: Command): void {
  const token = examples(
    program.command('token').description('who may use the API, and as what'),
    'token list',
    'token create ada --role operator',
  );
  examples(
    does(
      token
        .command('create <name>')
        .description('make a token; it is shown this once')
        .requiredOption('--role <role>', 'viewer reads, operator also works, admin also sets')
        .option('--ttl <duration>', 'ends by itself after 30m, 12h, 90d'),
      create,
    ),
    'token create ada --role operator --ttl 90d',
    '$ MUSTER_TOKEN=$(muster token create ci --role viewer)',
  );
  examples(does(token.command('list').description('all tokens, without their secrets'), list), 'token list');
  examples(
    does(token.command('delete <id>').description('end a token; requests with it are refused at once'), remove),
    'token delete 3f7a…',
  );
}

const view = (terminal: Terminal): View<KnownToken> => ({
  name: (t) => t.id,
  head: ['ID', 'NAME', 'ROLE', 'BY', 'CREATED', 'UNTIL'],
  row: (t) => [t.id, t.name, t.role, t.by, moment(t.createdAt, terminal), moment(t.expiresAt, terminal)],
  none: 'no tokens',
});

async function create(run: Run, name: string, o: { role: string; ttl?: string }): Promise<void> {
  const role = ROLES.find((r) => r === o.role);
  if (role === undefined) throw new UsageFailure(`--role ${o.role}: one of ${ROLES.join(', ')}`);
  const request: TokenRequest = { name, role, ...(o.ttl !== undefined && { ttl: seconds('--ttl', o.ttl) }) };
  const answer = await run.server.post<KnownToken & { token?: string }>('/v1/tokens', request);
  // Asked for a second time after a broken connection, the server does not show it again.
  if (answer.token === undefined)
    throw new Failure(`token ${answer.id} is made, but its secret was lost on the way: delete it, and make another`);
  if (await run.print.machine(answer, [answer.id])) return;
  // Alone on stdout: $(muster token create …) is the token.
  run.terminal.line(answer.token);
  run.terminal.note(`muster: token ${answer.id} of ${name}, role ${role}: keep it, it is not shown again`);
}

async function list(run: Run): Promise<void> {
  const { items } = await run.server.get<{ items: KnownToken[] }>('/v1/tokens');
  await run.print.list(items, view(run.terminal));
}

async function remove(run: Run, id: string): Promise<void> {
  await run.server.exchange('DELETE', `/v1/tokens/${encodeURIComponent(id)}`);
  await run.print.done({ id }, id, `token ${id} is ended`);
}
