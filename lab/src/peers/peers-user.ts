import { readFileSync, writeFileSync } from 'node:fs';
import { encodeUser } from '@nats-io/jwt';
import { createUser, fromSeed } from '@nats-io/nkeys';
import { authorityOf } from '#bus/init/tls-files.js';
import { readCredentials, type BusCredentials } from '#bus';
import { inboxPrefix, Subjects } from '#contracts';
import type { LabFolder } from '../folder.js';

const USER = 'simulated-peers';
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/**
 * One user that may do for every node what its agent may do for itself: no product has such a one. Real agents each have
 * their own, and nobody can speak as another; that is theirs to show.
 * @param operatorKey `keys/operator.key` of the cluster
 */
export async function issuePeersCredentials(operatorKey: string): Promise<BusCredentials> {
  const keys = JSON.parse(readFileSync(operatorKey, 'utf8')) as { account: string; services: string };
  const pair = createUser();
  const claims = {
    pub: { allow: [Subjects.report('*'), Subjects.peers('*')] },
    sub: { allow: [`${inboxPrefix(USER)}.>`, Subjects.peersChanged('*'), Subjects.poll('*')] },
    resp: { max: 1, ttl: 60 * 1_000_000_000 },
  };
  const signer = fromSeed(new TextEncoder().encode(keys.services));
  const jwt = await encodeUser(USER, pair.getPublicKey(), keys.account, claims, { signer });
  return { user: USER, seed: text(pair.getSeed()), jwt };
}

const file = (folder: LabFolder): string => folder.at('etc', 'creds', `${USER}.json`);

export async function writePeersCredentials(folder: LabFolder): Promise<void> {
  const credentials = await issuePeersCredentials(folder.at('etc', 'keys', 'operator.key'));
  const ca = authorityOf(folder.at('etc'));
  writeFileSync(file(folder), `${JSON.stringify({ ...credentials, ...(ca !== undefined && { ca }) })}\n`, {
    mode: 0o600,
  });
}

export const readPeersCredentials = (folder: LabFolder): BusCredentials => readCredentials(file(folder));
