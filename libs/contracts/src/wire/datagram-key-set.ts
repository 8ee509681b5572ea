import { createHash } from 'node:crypto';
import { parseDatagramKeys } from './datagram.js';
import type { SealedTo } from '../keys/sealed-to.js';

/**
 * Where an exchange of the datagrams' key stands. `spread`: all get the new key beside the old one, which signs. `sign`:
 * the new one signs, the old one is still accepted. `done`: the old one is gone.
 */
export const KeyPhases = ['spread', 'sign', 'done'] as const;
export type KeyPhase = (typeof KeyPhases)[number];

/** Which keys datagrams are proved by; the keys themselves are sealed in bucket `secrets`. */
export interface DatagramKeySet {
  /** Grows with every change, also over a store that was lost: at least the wall clock, ms. */
  version: number;
  phase: KeyPhase;
  /** {@link keyId} of those that are accepted; the first signs. */
  keys: string[];
  /** The key that the last exchange replaced, as long as its secret is still to be destroyed. */
  retired?: string;
  /** Nodes that nobody hears, and that the operator said are not to be waited for. */
  without?: string[];
  by: string;
  /** Wall clock, ms. */
  startedAt: number;
  changedAt: number;
}

/** Key of bucket `settings`. */
export const DATAGRAM_KEYS_KEY = 'datagram-keys';

/** Key of bucket `secrets` under which a key is sealed. */
export const datagramKeySecret = (id: string): string => `datagram-key=${id}`;

/** Names a key and tells nothing of it: the first 8 hex digits of its SHA-256. */
export const keyId = (key: Buffer): string => createHash('sha256').update(key).digest('hex').slice(0, 8);

export const isKeyIds = (x: unknown): x is string[] =>
  Array.isArray(x) && x.length <= 4 && x.every((id) => typeof id === 'string' && /^[0-9a-f]{8}$/.test(id));

/** What an agent's peer list says of the keys, and with which the fleet's lists change. */
export type KeysInUse = Pick<DatagramKeySet, 'version' | 'keys'>;

/** Of an agent with its question for its peers, and of a detector. */
export interface KeysQuestion {
  /** {@link keyId} of those that it has, the first signs. */
  holds?: string[];
  /** Public key to which what it lacks is sealed. */
  box?: string;
}

/** Beside the answer where the asker lacks them: a {@link KeysGiven}, sealed. */
export interface KeysAnswer {
  sealedKeys?: SealedTo;
}

export interface KeysGiven {
  version: number;
  /** Hex, the first signs. Secret. */
  keys: string[];
}

/** @throws Error where it is none */
export function parseKeysGiven(text: string): { version: number; keys: Buffer[] } {
  let given: Partial<KeysGiven>;
  try {
    given = JSON.parse(text) as Partial<KeysGiven>;
  } catch {
    // Without the cause: it would quote a key.
    throw new Error('it is not JSON');
  }
  const { version, keys } = given;
  if (!Number.isSafeInteger(version) || (version as number) < 1) throw new Error('the keys have no version');
  if (!Array.isArray(keys)) throw new Error('there are no keys');
  return { version: version as number, keys: parseDatagramKeys(keys.join('\n')) };
}

/** How far one that proves its datagrams has come; absent `keys`: it has not said. */
export interface KeyLaggard {
  /** Node, or `detector`. */
  name: string;
  keys?: string[];
  /** It reports, or the monitor does not call it dead. Such a one is waited for, whatever the operator says. */
  heard: boolean;
}

/** `muster agent key status`. */
export interface AgentKeyView {
  /** `file`: the keys are those of `keys.datagram`, and were never exchanged by Muster. */
  phase: KeyPhase | 'file';
  keys: string[];
  /** The last exchange. */
  by?: string;
  startedAt?: number;
  changedAt?: number;
  without?: string[];
  /** Nodes with an agent. */
  nodes: number;
  /** What the next step waits for; where none is under way, those that have other keys. By name, 500 at most. */
  waitsFor: KeyLaggard[];
}
