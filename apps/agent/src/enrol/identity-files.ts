import { readFileSync } from 'node:fs';
import { agentFile } from '#contracts/wire/agent-file.js';
import { parseDatagramKeys } from '#contracts/wire/datagram.js';
import { MusterError } from '#contracts/errors/errors.js';
import type { HostAddress } from '#contracts/addresses/host-addresses.js';
import type { AgentAdmission } from '#contracts/wire/agent-enrolment.js';
import { checkConfig, defaultConfigFile, musterRoot } from '../config/agent-config.js';
import { writeDurably } from '../peers/durable-file.js';

/** Who the agent of this host is by now; undefined: it has none. */
export interface Identity {
  node: string;
  cluster: string;
  /** All of agent.json. */
  raw: Record<string, unknown>;
}

const identityFile = defaultConfigFile;

/** @throws MusterError CONFIG_INVALID where the file is there and says nothing that could be kept */
export function presentIdentity(file = identityFile()): Identity | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new MusterError('CONFIG_INVALID', `${file}: ${(cause as Error).message}`, {}, { cause });
  }
  try {
    const raw = JSON.parse(text) as Record<string, unknown>;
    const { node, cluster } = raw;
    if (typeof node === 'string' && typeof cluster === 'string') return { node, cluster, raw };
  } catch {
    // As below.
  }
  throw new MusterError('CONFIG_INVALID', `${file} does not say whose agent is here: remove it, or say --force`, {
    file,
  });
}

/** @throws MusterError ALREADY_EXISTS where the agent that is here is another's */
export function refuseOther(present: Identity | undefined, mine: { node: string; cluster?: string }): void {
  if (present === undefined) return;
  const other =
    present.node !== mine.node
      ? `of ${present.node}`
      : mine.cluster !== undefined && present.cluster !== mine.cluster
        ? `of another cluster (${present.cluster})`
        : undefined;
  if (other !== undefined)
    throw new MusterError(
      'ALREADY_EXISTS',
      `this host has the agent ${other}: say --force if ${mine.node} shall take its place`,
    );
}

/** What is written of an admission, checked: file → text. The configuration last: it names the others. */
export function identityFiles(
  admission: AgentAdmission,
  addresses: readonly HostAddress[],
  present: Identity | undefined,
): [file: string, text: string][] {
  const etc = `${musterRoot()}/etc/muster`;
  const places = { credentials: `${etc}/nats.json`, keys: `${etc}/datagram.key` };
  // What the operator has set beside it stays, while it is the same node.
  const kept = present?.node === admission.node ? present.raw : {};
  try {
    const config = { ...kept, ...agentFile(admission, addresses, admission.nats), ...places };
    const { user, seed, jwt, ca } = admission.credentials;
    const keys = `${admission.datagramKeys.join('\n')}\n`;
    checkConfig(config);
    parseDatagramKeys(keys);
    if (![user, seed, jwt].every((text) => typeof text === 'string' && text !== '')) throw new Error('no credentials');
    return [
      [places.credentials, `${JSON.stringify({ user, seed, jwt, ca })}\n`],
      [places.keys, keys],
      [identityFile(), `${JSON.stringify(config, null, 2)}\n`],
    ];
  } catch (cause) {
    if (cause instanceof MusterError) throw cause;
    throw new MusterError(
      'COMMAND_FAILED',
      `what the server answered is of no use: ${(cause as Error).message}`,
      {},
      { cause },
    );
  }
}

/** Each is whole at any moment, and root's alone. */
export async function writeIdentity(files: readonly [file: string, text: string][]): Promise<void> {
  for (const [file, text] of files)
    try {
      await writeDurably(file, text);
    } catch (cause) {
      throw new MusterError('COMMAND_FAILED', `${file} cannot be written: ${(cause as Error).message}`, {}, { cause });
    }
}
