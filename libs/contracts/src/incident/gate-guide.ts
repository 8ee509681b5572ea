import type { FencingSettings } from '../settings/settings.js';
import type { GateCode } from './incident.js';
import { word, type Remedy } from '../remedies/remedy.js';

/** What a fencing gate guards, and what to do while it stops an incident: its row in docs/gates.md. */
export interface GateGuide {
  /** What it means that it stops. */
  meaning: string;
  text: string;
  /** @param mode in which it stops: a remedy does not change it by the way */
  command: (node: string, mode: FencingSettings['mode']) => string;
}

const confirm = (node: string): string => `muster incident confirm ${word(node)} --reason "…"`;
/** Past the gate that is read of, and not past one that stops it by then. */
const release =
  (gate: GateCode) =>
  (node: string): string =>
    `muster incident release ${word(node)} --gate ${gate} --reason "…"`;
const get = (node: string): string => `muster incident get ${word(node)}`;

/** Every gate. */
export const gateGuides: Record<GateCode, GateGuide> = {
  BLIND: {
    meaning:
      'The detector is not heard, or too few nodes report to it, or, with two members or one network, the power device gave no answer in place of the missing witness.',
    text: 'Bring the detector and the agents back: it is judged anew by itself. Where you have seen that the node is off, confirm it.',
    command: confirm,
  },
  NOT_FENCEABLE: {
    meaning:
      'Muster may not power it off (cordoned, not Allocated, fencing manual, held by a job that changes it), or cannot (no power device that is its own, no fencer outside of it).',
    text: 'Where it may not, release the incident. Where it cannot, see that the node is off and confirm it.',
    command: confirm,
  },
  ALREADY_OPEN: {
    meaning: 'Another incident of this node is open.',
    text: 'Go by that one.',
    command: get,
  },
  LIFE_SIGN: {
    meaning: 'Something shows that it may live: a report, an echo, its ssh, its kernel; or nobody could look.',
    text: 'Look at the host. Release it with --force only where it is to be powered off although it may live.',
    command: (node) => `muster node why ${word(node)}`,
  },
  BRAKE: {
    meaning:
      'More nodes are silent or in incidents at once than may be: the cause is rather the network or the power than the nodes.',
    text: 'Look for what they have in common. Let those go that are really dead, or confirm them.',
    command: () => 'muster storm get',
  },
  DOMAIN: {
    meaning: 'Most of its failure domain fell silent together.',
    text: 'Look at the power and the switch of the domain. Let those go that are really dead, or confirm them.',
    command: () => 'muster storm get',
  },
  CAP: {
    meaning: 'As many nodes as may be were fenced within ten minutes.',
    text: 'See why so many die. It goes on by itself when the ten minutes are over; release it where that is too late.',
    command: release('CAP'),
  },
  QUORUM: {
    meaning: 'Without this node the servers of NATS would have no majority, or it is not known where they run.',
    text: 'Bring the other servers back. It cannot be released: where the node is off, confirm it.',
    command: confirm,
  },
  PAUSED: {
    meaning: 'An operator has paused fencing.',
    text: 'End the pause when its reason is over, by setting the mode: enforce, or observe where nothing shall be powered off.',
    command: (_node, mode) => `muster fencing set ${mode}`,
  },
  OBSERVE: {
    meaning: 'The mode is observe: Muster decides, and powers nothing off.',
    text: 'Set the mode to enforce when you trust what it decides; until then, power the node off by hand and confirm it.',
    command: () => 'muster fencing set enforce',
  },
  FLAPPING: {
    meaning: 'It was permitted to be fenced as often within ten minutes as `fencing.storm.flaps` allows.',
    text: 'See why it dies again and again before it is powered off once more.',
    command: release('FLAPPING'),
  },
};

export const gateRemedy = (gate: GateCode, node: string, mode: FencingSettings['mode']): Remedy => {
  const guide = gateGuides[gate];
  return { text: guide.text, command: guide.command(node, mode) };
};
