import { parseArgs } from 'node:util';
import { isLoopback } from '#contracts/addresses/ip-address.js';
import { NAME_PATTERN } from '#contracts/names/names.js';

export const USAGE = `usage: muster-agent enroll --server URL [--token-file FILE|-] [options]

  --server URL            where Muster's API is reached, https://muster.example:9007
  --token-file FILE|-     agent token (muster agent token create), - for stdin; else environment MUSTER_AGENT_TOKEN
  --network NAME=WHERE    a network of this host: interface, CIDR or address; may be repeated
                          (default: management, at the address from which the server is reached)
  --ca FILE               certificates (PEM) to trust, in the place of those that Node trusts
  --insecure-http         allow http:// to another machine: the answer holds secrets, and everybody on the way reads them
  --force                 also where this host has the agent of another node or cluster
`;

export interface EnrolOptions {
  server: URL;
  /** `-`: stdin. Absent: from the environment. */
  tokenFile?: string;
  /** Network → interface, CIDR or address. */
  networks: Record<string, string>;
  ca?: string;
  force: boolean;
}

/** What is wrong with the command line. */
export class UsageError extends Error {}

/** Undefined: help is asked for. @throws UsageError */
export function enrolOptions(args: string[]): EnrolOptions | undefined {
  const { values } = parsed(args);
  if (values.help === true) return undefined;
  const server = serverOf(values.server, values['insecure-http'] === true);
  const tokenFile = values['token-file'];
  const { ca } = values;
  return {
    server,
    networks: networksOf(values.network ?? []),
    force: values.force === true,
    ...(tokenFile !== undefined && { tokenFile }),
    ...(ca !== undefined && { ca }),
  };
}

function parsed(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args,
      options: {
        server: text,
        'token-file': text,
        network: { type: 'string', multiple: true },
        ca: text,
        'insecure-http': flag,
        force: flag,
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (e) {
    throw new UsageError((e as Error).message.split('. ')[0], { cause: e });
  }
}

function serverOf(given: string | undefined, insecure: boolean): URL {
  if (given === undefined) throw new UsageError('--server is needed');
  const text = given.includes('://') ? given : `https://${given}`;
  const server = URL.canParse(text) ? new URL(text) : null;
  if (server === null || (server.protocol !== 'https:' && server.protocol !== 'http:'))
    throw new UsageError(`--server ${given}: an https:// address is expected`);
  // What is sent and answered lets its reader in.
  if (server.protocol === 'http:' && !insecure && !isLoopback(server.hostname))
    throw new UsageError(
      `--server ${given}: everybody on the way would read the token and the keys; use https, or say --insecure-http`,
    );
  return server;
}

function networksOf(given: string[]): Record<string, string> {
  const networks: Record<string, string> = {};
  for (const text of given) {
    const [, name = '', where = ''] = /^([^=]*)=(.+)$/.exec(text) ?? [];
    if (!NAME_PATTERN.test(name) || where === '')
      throw new UsageError(`--network ${text}: NAME=INTERFACE, NAME=CIDR or NAME=ADDRESS is expected`);
    if (Object.hasOwn(networks, name)) throw new UsageError(`--network ${name} is given twice`);
    networks[name] = where;
  }
  return networks;
}
