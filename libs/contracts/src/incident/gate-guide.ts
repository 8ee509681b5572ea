import type { GateCode } from './incident.js';
import { word, type Remedy } from '../remedies/remedy.js';

/** What a fencing gate guards, and what to do while it stops an incident: its row in docs/gates.md. */
export interface GateGuide {
  /** What it means that it stops. */
  meaning: string;
  text: string;
  /**
   * The first thing to do. It shows more, and changes nothing, where the line that it stands behind does not say enough to
   * act on; that of a gate that only counts permits lets the incident past it.
   */
  command: (node: string) => string;
}

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
    text: 'Bring the detector and the agents back: it is judged anew by itself. Only where you have seen that the node is off: muster incident confirm NODE.',
    command: () => 'muster nodes get',
  },
  NOT_FENCEABLE: {
    meaning:
      'Muster may not power it off (cordoned, not Allocated, fencing manual, held by a job that changes it), or cannot (no power device that is its own, no fencer outside of it).',
    text: 'Where Muster may not power it off, release the incident. Where it cannot, see that the node is off; only then: muster incident confirm NODE.',
    command: get,
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
    text: 'Look for what they have in common. Release those that are really dead (muster storm release), or confirm those that you have seen off (muster storm confirm).',
    command: () => 'muster storm get',
  },
  DOMAIN: {
    meaning: 'Most of its failure domain fell silent together.',
    text: 'Look at the power and the switch of the domain. Release those that are really dead (muster storm release), or confirm those that you have seen off (muster storm confirm).',
    command: () => 'muster storm get',
  },
  CAP: {
    meaning: 'As many nodes as may be were fenced within ten minutes.',
    text: 'See why so many die. It goes on by itself when the ten minutes are over; release it where that is too late.',
    command: release('CAP'),
  },
  QUORUM: {
    meaning: 'Without this node the servers of NATS would have no majority, or it is not known where they run.',
    text: 'Bring the other servers back. It cannot be released. Only where you have seen that the node is off: muster incident confirm NODE.',
    command: () => 'muster doctor',
  },
  PAUSED: {
    meaning: 'An operator has paused fencing.',
    text: 'See who paused it, and why. When that is over, end the pause by setting the mode that it had: muster fencing set enforce, or observe.',
    command: () => 'muster fencing get',
  },
  OBSERVE: {
    meaning: 'The mode is observe: Muster decides, and powers nothing off.',
    text: 'See what it would have done. Set the mode to enforce when you trust that (muster fencing set enforce); until then, power the node off by hand and confirm it.',
    command: () => 'muster fencing report --days 30',
  },
  FLAPPING: {
    meaning: 'It was permitted to be fenced as often within ten minutes as `fencing.storm.flaps` allows.',
    text: 'See why it dies again and again before it is powered off once more.',
    command: release('FLAPPING'),
  },
};

export const gateRemedy = (gate: GateCode, node: string): Remedy => {
  const guide = gateGuides[gate];
  return { text: guide.text, command: guide.command(node) };
};
