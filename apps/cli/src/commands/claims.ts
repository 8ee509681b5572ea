import type { Command } from 'commander';
import type { ClaimRecord, ClaimRequest } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { seconds, wholeNumber } from '../input/numbers.js';
import { SELECTOR } from '../nodes/selector-option.js';
import type { View } from '../output/printer.js';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';

interface CreateOptions {
  count: string;
  owner: string;
  hostGroup?: string;
  selector?: string;
  ttl?: string;
}

export function claimCommands(program: Command): void {
  const claim = examples(
    program.command('claim').description('nodes in service, held for a scheduler outside'),
    'claim create --owner nomad --count 3',
    'claim list',
  );
  examples(
    does(
      claim
        .command('create')
        .description('hold nodes: as many as are asked for, or none')
        .requiredOption('--owner <name>', 'who holds them')
        .option('--count <number>', 'how many', '1')
        .option('-g, --host-group <group>', 'only of this host group')
        .option(...SELECTOR)
        .option('--ttl <duration>', 'free again by themselves after 30s, 15m, 2h, 1d'),
      create,
    ),
    'claim create --owner nomad --count 3 --host-group service-worker --ttl 2h',
    'claim create --owner nomad --selector vars.gpu=a100 -o json',
  );
  examples(
    does(claim.command('list').description('all claims').option('--owner <name>', 'only of this owner'), list),
    'claim list --owner nomad',
  );
  examples(does(claim.command('get <id>').description('one claim, with its nodes'), get), 'claim get c1 -o yaml');
  examples(does(claim.command('delete <id>').description('give the nodes back'), release), 'claim delete c1');
}

const view = (terminal: Terminal): View<ClaimRecord> => ({
  name: (c) => c.id,
  head: ['ID', 'OWNER', 'NODES', 'GROUP', 'SINCE', 'UNTIL'],
  row: (c) => [
    c.id,
    c.owner,
    c.nodes.join(' '),
    c.hostGroup ?? '-',
    moment(c.at, terminal),
    moment(c.expiresAt, terminal),
  ],
  none: 'no claims',
});

const claimPath = (id: string): string => `/v1/claims/${encodeURIComponent(id)}`;

async function create(run: Run, o: CreateOptions): Promise<void> {
  const request: ClaimRequest = {
    owner: o.owner,
    count: wholeNumber('--count', o.count, 1),
    ...(o.hostGroup !== undefined && { hostGroup: o.hostGroup }),
    ...(o.selector !== undefined && { selector: o.selector }),
    ...(o.ttl !== undefined && { ttl: seconds('--ttl', o.ttl) }),
  };
  await run.print.one(await run.server.post<ClaimRecord>('/v1/claims', request), view(run.terminal));
}

async function list(run: Run, o: { owner?: string }): Promise<void> {
  const query = o.owner === undefined ? '' : `?${new URLSearchParams({ owner: o.owner }).toString()}`;
  await run.print.list(await run.server.all<ClaimRecord>(`/v1/claims${query}`), view(run.terminal));
}

async function get(run: Run, id: string): Promise<void> {
  await run.print.one(await run.server.get<ClaimRecord>(claimPath(id)), view(run.terminal));
}

async function release(run: Run, id: string): Promise<void> {
  await run.server.exchange('DELETE', claimPath(id));
  await run.print.done({ id }, id, `claim ${id} is given back`);
}
