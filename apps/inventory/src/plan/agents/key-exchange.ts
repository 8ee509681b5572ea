import type { DatagramKeySet } from '#contracts';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Concern } from '../concern.js';
import type { ChangeKeySet } from '../intent.js';
import { keyHolders } from './key-holders.js';
import { nextKeySet, type KeyHolder } from './key-rotation.js';

/** A node that is not seen cannot be waited for. */
const isKnown = ({ nodes, knowsSettings }: Fleet): boolean => nodes.live && knowsSettings;

/** Takes an exchange of the datagrams' key on, step by step. */
export const keyExchange: Concern = {
  isKnown,
  plan: (fleet) => {
    const { keySet } = fleet;
    if (keySet === undefined) return [];
    return keySet.retired === undefined ? step(keySet, fleet) : [destruction(keySet, keySet.retired)];
  },
};

/** Everybody whose datagrams others must be able to prove, as this process has heard them. */
export const holdersIn = (fleet: Fleet): KeyHolder[] =>
  keyHolders({
    nodes: fleet.nodes.list.map((e) => e.value),
    report: (node) => {
      const heard = fleet.heard(node);
      return heard && { report: heard.report, fresh: heard.ago <= fleet.settings.detection.freshness };
    },
    beacon: fleet.detector.current,
  });

function step(set: DatagramKeySet, fleet: Fleet): ChangeKeySet[] {
  const next = nextKeySet(set, holdersIn(fleet), fleet.wallMs);
  if (next === undefined) return [];
  const { phase, keys } = next;
  return [
    {
      ...{ do: 'change-key-set', about: { keys: set.keys.join() } },
      reason: `Everybody has said to have come as far as ${set.phase}: ${phase} follows.`,
      decide: (now, at) =>
        isKnown(at.fleet) && isSame(now, set) ? nextKeySet(now, holdersIn(at.fleet), at.fleet.wallMs) : undefined,
      log: { level: 'debug', facts: { phase, keys }, message: 'the key of the datagrams is being exchanged' },
    },
  ];
}

const destruction = (set: DatagramKeySet, retired: string): ChangeKeySet => ({
  ...{ do: 'change-key-set', about: { keys: retired }, destroys: retired },
  reason: `${retired} was replaced: it is of no use to anybody but a thief.`,
  decide: (now) => {
    const { retired: _gone, ...rest } = now;
    return isSame(now, set) ? rest : undefined;
  },
});

/** Two steps at once must not become one too many. */
const isSame = (a: DatagramKeySet, b: DatagramKeySet): boolean => JSON.stringify(a) === JSON.stringify(b);
