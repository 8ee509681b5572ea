import { encodeUser } from '@nats-io/jwt';
import { createUser } from '@nats-io/nkeys';
import { agentUser, MusterError, NODE_NAME_PATTERN, token } from '#contracts';
import type { BusCredentials } from '../ports/types.js';
import { keyPair, seedOf } from '#contracts/keys/nkey.js';
import { readKeyFile } from './read-key-file.js';

/**
 * With it users of agents are made, while NATS runs and without asking it. The account knows this key with a scope: no
 * user that it signs may do more than an agent. Secret.
 */
export interface AgentsKey {
  /** Public key of the account that the users belong to. */
  account: string;
  /** nkey seed. */
  seed: string;
}

/** `keys/agents.key` of `muster init`. CONFIG_INVALID names the file, never its content. */
export function readAgentsKey(file: string): AgentsKey {
  const check = ({ account, seed }: AgentsKey): AgentsKey => {
    keyPair(seed);
    if (typeof account !== 'string') throw new TypeError('no account');
    return { account, seed };
  };
  return readKeyFile(file, check, '{"account", "seed"}');
}

/** The NATS user of a node's agent; each call makes another key, and earlier ones stay valid. CONFIG_INVALID: the name. */
export async function issueAgentCredentials(key: AgentsKey, node: string): Promise<BusCredentials> {
  if (!NODE_NAME_PATTERN.test(node)) throw new MusterError('CONFIG_INVALID', `"${node}" cannot name a node`);
  const pair = keyPair(seedOf(createUser()));
  // What it may do stands in the key's scope: the server puts the user's name, one token, into it.
  const jwt = await encodeUser(
    token(node),
    pair.getPublicKey(),
    key.account,
    {},
    { signer: keyPair(key.seed), scopedUser: true },
  );
  return { user: agentUser(node), seed: seedOf(pair), jwt };
}
