import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { addAgentUsers, credentialsFile } from '#bus';
import { agentUser, MusterError } from '#contracts';
import type { LabFolder } from '../folder.js';
import { isOnNetwork, knownHosts, type ControlChoice, type ExternalControl, type LabPlan } from '../plan.js';

/** As they stand in a command line. */
export interface ControlOptions {
  control: '1' | '3' | 'external';
  nats?: string[];
  http?: string[];
  creds?: string;
  token?: string;
}

const NATS_URL = /^(nats|tls):\/\/[^\s,/]+$/;
const HTTP_URL = /^https?:\/\/[^\s,/]+$/;

/**
 * What they mean. A server with an address on the lab's backend network is for agents there, all others for the management
 * network. BAD_REQUEST names what is missing, wrong or too much.
 */
export function controlChoice(o: ControlOptions): ControlChoice {
  const { nats = [], http = [], creds, token } = o;
  if (o.control !== 'external') {
    const named = Object.entries({ nats: o.nats, http: o.http, creds, token }).find(([, v]) => v !== undefined)?.[0];
    if (named !== undefined) throw new MusterError('BAD_REQUEST', `--${named} goes with --control external`);
    return o.control === '3' ? 3 : 1;
  }
  const wrong = nats.find((url) => !NATS_URL.test(url)) ?? http.find((url) => !HTTP_URL.test(url));
  if (wrong !== undefined)
    throw new MusterError(
      'BAD_REQUEST',
      `"${wrong}": nats://host:port, tls://host:port or http://host:port is expected`,
    );
  const backend = nats.filter((url) => isOnNetwork('backend', new URL(url).hostname));
  const management = nats.filter((url) => !backend.includes(url));
  if (management.length === 0 || http.length === 0 || creds === undefined)
    throw new MusterError(
      'BAD_REQUEST',
      '--control external needs --nats URL (one on the management network at least), --http URL and --creds FOLDER',
    );
  return {
    nats: { management, backend },
    http,
    creds,
    cluster: clusterOf(creds),
    ...(token !== undefined && { token }),
  };
}

/** CONFIG_INVALID where the folder is not as `muster init` writes it. */
function clusterOf(creds: string): string {
  const file = join(creds, 'muster.yaml');
  const cluster = existsSync(file)
    ? (parse(readFileSync(file, 'utf8')) as { cluster?: unknown } | null)?.cluster
    : undefined;
  if (typeof cluster !== 'string')
    throw new MusterError(
      'CONFIG_INVALID',
      `${file} names no cluster: --creds takes a folder that muster init has written`,
    );
  return cluster;
}

/** The lab's `etc` is that folder; agents of hosts that have no user yet get one, where the keys for that are in it. */
export async function useExternal(folder: LabFolder, plan: LabPlan, { creds }: ExternalControl): Promise<void> {
  symlinkSync(creds, folder.at('etc'));
  const without = knownHosts(plan)
    .map((h) => h.node)
    .filter((node) => !existsSync(credentialsFile(creds, agentUser(node))));
  if (without.length === 0) return;
  if (!existsSync(join(creds, 'keys', 'operator.key')))
    throw new MusterError(
      'CONFIG_INVALID',
      `${creds} has no users for ${without.join(', ')}: muster init ${creds} ${without.map((n) => `--agent ${n}`).join(' ')}`,
    );
  await addAgentUsers(creds, without);
}
