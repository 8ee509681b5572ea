import { isIP } from 'node:net';
import { NAME_PATTERN, NODE_NAME_PATTERN } from '#contracts/names/names.js';
import { POLL_TARGETS, type PollRequest, type PollTarget } from '#contracts/wire/poll.js';

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);

/** Networks that a node has at most. */
const MOST_NETWORKS = 4;

function targetOf(x: unknown): PollTarget {
  if (!isObject(x) || typeof x.name !== 'string' || !NODE_NAME_PATTERN.test(x.name) || !isObject(x.networks))
    throw new Error('names a target without name or networks');
  const networks = Object.entries(x.networks);
  if (networks.length > MOST_NETWORKS) throw new Error('names a target with too many networks');
  for (const [network, address] of networks)
    if (!NAME_PATTERN.test(network) || typeof address !== 'string' || address.length > 253)
      throw new Error('names a network without an address');
  // Only literal addresses are probed: a resolver could hold the loop up.
  return { name: x.name, networks: Object.fromEntries(networks.filter(([, a]) => isIP(a as string) !== 0)) as never };
}

/** Whom the monitor asks us to look at. Throws an Error that says what is wrong with it. */
export function parsePollRequest(text: string): PollRequest {
  const raw: unknown = JSON.parse(text);
  if (!isObject(raw)) throw new Error('is not an object');
  const { targets, port } = raw;
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65535) throw new Error('has no port');
  if (!Array.isArray(targets)) throw new Error('has no targets');
  if (targets.length > POLL_TARGETS) throw new Error(`names more than ${POLL_TARGETS} targets`);
  const parsed = targets.map(targetOf);
  if (new Set(parsed.map((t) => t.name)).size !== parsed.length) throw new Error('names a target twice');
  return { targets: parsed, port };
}
