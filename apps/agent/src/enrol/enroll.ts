import { readFileSync } from 'node:fs';
import { MusterError } from '#contracts/errors/errors.js';
import { nodeName } from '#contracts/names/names.js';
import type { AgentAdmission } from '#contracts/wire/agent-enrolment.js';
import { identityFiles, presentIdentity, refuseOther, writeIdentity, type Identity } from './identity-files.js';
import { enrolOptions, USAGE, UsageError, type EnrolOptions } from './options.js';
import { ownSideOf, post } from './server.js';
import { ownAddresses, ownNetworks, thisHost } from './this-host.js';

export const TOKEN_VARIABLE = 'MUSTER_AGENT_TOKEN';

/**
 * `muster-agent enroll`: makes this host a node, and its agent one that is believed. Again on the same host it is the same
 * node, with a new user. Resolves to the exit code: 0 done, 1 refused or failed, 2 wrong command line.
 */
export async function enroll(args: string[]): Promise<number> {
  try {
    const o = enrolOptions(args);
    if (o === undefined) process.stdout.write(USAGE);
    else process.stdout.write(await enrolled(o, tokenOf(o)));
    return 0;
  } catch (e) {
    if (e instanceof UsageError) {
      process.stderr.write(`muster-agent: ${e.message}\n\n${USAGE}`);
      return 2;
    }
    process.stderr.write(`muster-agent: ${MusterError.from(e).message}\n`);
    return 1;
  }
}

/** What was done, and what is to be done next. */
async function enrolled(o: EnrolOptions, token: string): Promise<string> {
  const host = thisHost();
  const present = presentUnless(o.force);
  if (!o.force) refuseOther(present, { node: nodeName(host.label, host.serial) });
  const addresses = ownAddresses();
  const networks = ownNetworks(o.networks, addresses, await ownSideOf(o.server));
  const body = { ...host, networks };
  const ca = o.ca === undefined ? {} : { ca: readText('--ca', o.ca) };
  const admission = (await post(o.server, '/v1/agents/enrol', { token, body, ...ca })) as AgentAdmission;
  if (!o.force) refuseOther(present, admission);
  await writeIdentity(identityFiles(admission, addresses, present));
  const at = Object.entries(admission.networks).map(([network, { address }]) => `${network} ${address}`);
  return [
    `enrolled as ${admission.node} in cluster ${admission.cluster}, at ${at.join(', ')}`,
    'next: systemctl enable --now muster-agent   (where it runs already: systemctl restart muster-agent)',
    '',
  ].join('\n');
}

/** A file that nobody can read the meaning of is written over only where that was said. */
function presentUnless(force: boolean): Identity | undefined {
  try {
    return presentIdentity();
  } catch (e) {
    if (force) return undefined;
    throw e;
  }
}

/** Never from the command line, which every user of the host can read. @throws UsageError */
function tokenOf({ tokenFile }: EnrolOptions): string {
  const text = tokenFile === undefined ? process.env[TOKEN_VARIABLE] : readText('--token-file', tokenFile);
  const token = text?.trim() ?? '';
  if (token === '')
    throw new UsageError(
      tokenFile === undefined ? `--token-file or ${TOKEN_VARIABLE} is needed` : `--token-file ${tokenFile} is empty`,
    );
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError('this is no agent token');
  return token;
}

/** `-`: stdin. @throws UsageError */
function readText(option: string, file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new UsageError(`${option} ${file}: ${(cause as Error).message}`, { cause });
  }
}
