import { NAME_PATTERN, NODE_NAME_PATTERN } from '../names/names.js';
import type { LifeSigns } from './life-signs.js';
import { isCount } from './wire-checks.js';

/** `muster.life.<node>`: a detector asks this agent to look for life at one of its peers. */
export interface LifeQuestion {
  /** 32 hexadecimal digits, which the answer repeats. */
  nonce: string;
  /** A peer on the agent's own list: it looks at nobody else, and only at the addresses that stand there. */
  target: string;
  sshPort: number;
  /** ms from when it is read: what was not found by then was not tried. At most {@link LIFE_WITHIN_MOST_MS}. */
  withinMs: number;
}

/** What it found over one network. */
export interface NetworkLifeSigns extends LifeSigns {
  /** Where it looked: an agent may have an old list. */
  address: string;
}

/** Why an agent did not look. */
export const LifeUnables = ['not-a-peer', 'busy', 'leaving'] as const;
export type LifeUnable = (typeof LifeUnables)[number];

export interface LifeAnswer {
  node: string;
  nonce: string;
  target: string;
  /** ms since it was found; who is asked twice within a second answers by the look that it took. */
  ageMs: number;
  /** Network → what was found over it; those that it shares with the target. */
  networks: Record<string, NetworkLifeSigns>;
  unable?: LifeUnable;
}

/** ms from the question to the answer: a connection and its banner take two seconds at most, and so does `ping`. */
export const LIFE_WITHIN_MS = 2_200;
export const LIFE_WITHIN_MOST_MS = 5_000;
/** ms after which an answer says nothing of the present. */
export const LIFE_ANSWER_FRESH_MS = 5_000;

/** Characters of a question, and no node has more networks. */
const MOST_TEXT = 1_024;
const MOST_NETWORKS = 4;
/** The longest literal address. */
const MOST_ADDRESS = 45;

const NONCE = /^[0-9a-f]{32}$/;
const isObject = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);
const within = (x: unknown, least: number, most: number): x is number => isCount(x) && x >= least && x <= most;

/** What an agent is asked; undefined where anything about it is off. */
export function readLifeQuestion(text: string): LifeQuestion | undefined {
  if (text.length > MOST_TEXT) return undefined;
  let x: unknown;
  try {
    x = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(x)) return undefined;
  const { nonce, target, sshPort, withinMs } = x;
  if (typeof nonce !== 'string' || !NONCE.test(nonce)) return undefined;
  if (typeof target !== 'string' || !NODE_NAME_PATTERN.test(target)) return undefined;
  if (!within(sshPort, 1, 65_535) || !within(withinMs, 1, LIFE_WITHIN_MOST_MS)) return undefined;
  return { nonce, target, sshPort, withinMs };
}

const signs: { [C in keyof LifeSigns]: readonly LifeSigns[C][] } = {
  ssh: ['banner', 'accepted', 'refused', 'silent', 'not-tried'],
  icmp: ['reply', 'silent', 'not-tried', 'cannot'],
  port: ['unreachable', 'silent', 'not-tried', 'cannot'],
  agentPort: ['unreachable', 'silent', 'not-tried', 'cannot'],
};

function networkLifeSigns(x: unknown): NetworkLifeSigns | undefined {
  if (!isObject(x) || typeof x['address'] !== 'string' || x['address'].length > MOST_ADDRESS) return undefined;
  for (const [channel, known] of Object.entries(signs))
    if (!(known as readonly unknown[]).includes(x[channel])) return undefined;
  const { address, ssh, icmp, port, agentPort } = x as unknown as NetworkLifeSigns;
  return { address, ssh, icmp, port, agentPort };
}

/**
 * What came back for a question; undefined where anything about it is off, where it answers another question, where
 * somebody else speaks, or where it is too old. That is no word of the target, neither for nor against.
 */
export function readLifeAnswer(x: unknown, by: string, q: LifeQuestion): LifeAnswer | undefined {
  if (!isObject(x)) return undefined;
  const { node, nonce, target, ageMs, networks, unable } = x;
  if (node !== by || nonce !== q.nonce || target !== q.target || !within(ageMs, 0, LIFE_ANSWER_FRESH_MS))
    return undefined;
  if (unable !== undefined && !(LifeUnables as readonly unknown[]).includes(unable)) return undefined;
  if (!isObject(networks)) return undefined;
  const entries = Object.entries(networks);
  if (entries.length > MOST_NETWORKS) return undefined;
  const observations: Record<string, NetworkLifeSigns> = {};
  for (const [network, found] of entries) {
    const look = NAME_PATTERN.test(network) ? networkLifeSigns(found) : undefined;
    if (look === undefined) return undefined;
    observations[network] = look;
  }
  return {
    node: by,
    nonce: q.nonce,
    target: q.target,
    ageMs,
    networks: observations,
    ...(unable !== undefined && { unable: unable as LifeUnable }),
  };
}
