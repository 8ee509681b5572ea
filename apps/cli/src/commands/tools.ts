import type { Command } from 'commander';
import type { RevocationReach } from '#bus';
import { MusterError } from '#contracts/errors/errors.js';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { onFiles } from '../failure/on-files.js';

interface ToolOptions {
  dir: string;
}

const ROLES = ['viewer', 'operator'] as const;
const DIR = ['--dir <dir>', 'what muster init has written', '/etc/muster'] as const;

/** Programs that speak NATS: the files are those of the control machine, so no server is asked. */
export function toolCommands(program: Command): void {
  const tool = program
    .command('tool')
    .description('programs of your own that speak NATS: each has a user, which can be revoked');
  examples(tool, 'tool list');
  examples(
    does(
      tool
        .command('add <name>')
        .description('write credentials for one more program; a running NATS server lets it in at once')
        .requiredOption('--role <role>', 'viewer hears and replays events; operator orders, too')
        .option(...DIR),
      add,
    ),
    'tool add billing --role viewer',
    'tool add ticket-bot --role operator --dir /srv/muster',
  );
  examples(
    does(
      tool
        .command('list')
        .description('programs that have a user')
        .option(...DIR),
      list,
    ),
    'tool list',
  );
  examples(
    does(
      tool
        .command('revoke <name>')
        .description('make the user of a program worthless, wherever copies of its file are')
        .option(...DIR),
      revoke,
    ),
    'tool revoke billing',
  );
}

async function add({ terminal }: Run, name: string, o: ToolOptions & { role: string }): Promise<void> {
  const role = ROLES.find((r) => r === o.role);
  if (role === undefined) throw new Failure(`a role is ${ROLES.join(' or ')}, not "${o.role}"`);
  const { addToolUser } = await import('#bus');
  terminal.line(`written: ${await onFiles(() => addToolUser(o.dir, name, role))}`);
}

async function list({ terminal }: Run, o: ToolOptions): Promise<void> {
  const { toolUsers } = await import('#bus');
  for (const name of (await onFiles(() => toolUsers(o.dir))).sort()) terminal.line(name);
}

async function revoke({ terminal }: Run, name: string, o: ToolOptions): Promise<void> {
  const { revokeAgentUsers, revokeToolUser } = await import('#bus');
  const { key, revoker, servers, ca } = await onFiles(() => revokeToolUser(o.dir, name));
  let heard: RevocationReach;
  try {
    heard = await revokeAgentUsers({ key: revoker, servers, ...(ca !== undefined && { ca }) }, [key]);
  } catch (error) {
    throw new Failure(
      `${name} is refused from the next start of NATS on, and not yet: ${MusterError.from(error).message}`,
    );
  }
  const rest = notTold(name, heard);
  if (rest !== undefined) throw new Failure(rest);
  terminal.line(`revoked: ${name}`);
}

/** What is to be known of servers that have not said that they refuse it; undefined: all have. */
export const notTold = (name: string, { servers, told }: RevocationReach): string | undefined =>
  told >= servers
    ? undefined
    : `${name} is refused by ${told} of ${servers} NATS servers: one that is down learns it from them at its start, and one that is cut off still lets it in until it is reached`;
