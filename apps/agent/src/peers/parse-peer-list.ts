import { isIP } from 'node:net';
import { isWireError } from '#contracts/errors/errors.js';
import type { Peer, PeerList } from '#contracts/wire/peers.js';
import { NATS_URL } from '#contracts/keys/nats-tls.js';
import { checkDetection, DetectionProfiles, type DetectionSettings } from '#contracts/settings/settings.js';

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);

function isPeer(x: unknown): x is Peer {
  if (!isObject(x) || typeof x.name !== 'string' || x.name === '' || !isObject(x.networks)) return false;
  const addresses = Object.values(x.networks);
  return addresses.length > 0 && addresses.every((a) => typeof a === 'string' && a !== '');
}

/** Only literal addresses are probed: a resolver could hold the loop up. A peer by host name is never reported down. */
const probeable = (p: Peer): Peer => ({
  name: p.name,
  networks: Object.fromEntries(Object.entries(p.networks).filter(([, address]) => isIP(address) !== 0)),
});

/** All of them, whole and positive: a number that is missing would pass every comparison. */
function detectionOf(raw: unknown): DetectionSettings {
  if (!isObject(raw)) throw new Error('has no detection numbers');
  const { profile, ...numbers } = DetectionProfiles.lan;
  for (const name of Object.keys(numbers))
    if (!Number.isSafeInteger(raw[name]) || (raw[name] as number) < 1) throw new Error(`has no detection.${name}`);
  return checkDetection({ ...numbers, profile, ...raw });
}

/** More servers than a cluster of NATS has. */
const MOST_SERVERS = 16;

const isServers = (x: unknown): boolean =>
  isObject(x) &&
  Object.values(x).every(
    (urls) =>
      Array.isArray(urls) &&
      urls.length > 0 &&
      urls.length <= MOST_SERVERS &&
      urls.every((url) => typeof url === 'string' && NATS_URL.test(url)),
  );

/**
 * A peer list from the wire or the disk. Throws an Error that says what is wrong with it; written by hand, since the
 * agent carries no validator.
 */
export function parsePeerList(text: string, self: { node: string; cluster: string }): PeerList {
  const raw: unknown = JSON.parse(text);
  if (isWireError(raw)) throw new Error(`${raw.code}: ${raw.message}`);
  if (!isObject(raw)) throw new Error('is not an object');
  if (!Number.isSafeInteger(raw.version) || (raw.version as number) < 0) throw new Error('has no version');
  if (raw.cluster !== self.cluster) throw new Error(`is of cluster ${JSON.stringify(raw.cluster)}`);
  if (!Number.isInteger(raw.port) || (raw.port as number) < 1 || (raw.port as number) > 65535)
    throw new Error('has no port');
  if (!isPeer(raw.self) || raw.self.name !== self.node) throw new Error('is not for this node');
  if (!Array.isArray(raw.peers) || !raw.peers.every(isPeer)) throw new Error('has a peer without name or address');
  const names = raw.peers.map((p) => p.name);
  if (new Set(names).size !== names.length || names.includes(self.node)) throw new Error('names a peer twice');
  if (raw.nats !== undefined && !isServers(raw.nats)) throw new Error('names servers of NATS that are none');
  const detection = detectionOf(raw.detection);
  return { ...(raw as unknown as PeerList), detection, peers: raw.peers.map(probeable) };
}

/**
 * How often in a row a list is refused for the same reason before we believe it: that the control plane was set back (a
 * restore), or that the last other node is gone.
 */
const REFUSALS = 3;

/**
 * Whether a well-formed list replaces the one we have. An empty one takes a fleet's place only where it is newer, and an
 * older one is a slow replica's answer, unless it comes again and again: whoever has no peers reports nobody down.
 * @param refusedSoFar how often in a row, until now, for the reason that it would be refused for
 */
export function whyNotAccept(
  next: PeerList,
  current: PeerList | undefined,
  refusedSoFar: (why: 'empty' | 'older') => number,
): 'empty' | 'older' | undefined {
  if (!current) return undefined;
  const isEmpty = next.peers.length === 0 && current.peers.length > 0;
  if (isEmpty && !(next.version > current.version && refusedSoFar('empty') >= REFUSALS)) return 'empty';
  if (next.version < current.version && refusedSoFar('older') < REFUSALS) return 'older';
  return undefined;
}
