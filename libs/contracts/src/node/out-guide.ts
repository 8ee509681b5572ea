import { alarmRemedy } from '../alarms/alarm-guide.js';
import { heldAlarm } from './held-return.js';
import type { NodeRecord, OutReason } from './node.js';
import { word, type Remedy } from '../remedies/remedy.js';

/** What a reason of being out of service means, and what brings the node back. */
export interface OutGuide {
  meaning: string;
  remedy: (n: NodeRecord) => Remedy;
}

const address = (n: NodeRecord): string => n.networks['management']?.address ?? 'ADDRESS';
const why = (n: NodeRecord): string => `muster node why ${word(n.name)}`;
const get = (n: NodeRecord): string => `muster node get ${word(n.name)}`;
const says = (text: string, command: (n: NodeRecord) => string) => (n: NodeRecord) => ({ text, command: command(n) });

function ofStatus(n: NodeRecord): Remedy {
  if (n.status === 'Unallocated' || n.status === 'Decommissioned')
    return {
      text: 'Commission it: that sets it up and takes it into service.',
      command: `muster node commission ${word(n.name)} --host-group ${word(n.hostGroup ?? 'GROUP')}`,
    };
  return { text: 'A job is at work on it: wait until it has ended.', command: 'muster job get active' };
}

function ofState(n: NodeRecord): Remedy {
  if (n.revoked !== undefined)
    return {
      text: 'Its agent is shut out: enrol the host again by a new token.',
      command: 'muster agent token create',
    };
  if (n.state === 'Unknown' && n.enrolled)
    return { text: 'It was never heard: install its agent.', command: `muster discover ${word(address(n))}` };
  if (n.state === 'Unknown') return { text: 'It runs no agent, and no other monitor has named it.', command: get(n) };
  return { text: 'It is not heard: see by whom, and since when.', command: why(n) };
}

function ofReturn(n: NodeRecord): Remedy {
  const p = n.pendingReturn;
  const subject = n.name;
  if (p?.heldBy === 'work')
    return {
      text: 'It goes on by itself when no work is there any more. With --force that is moved away now, and the node is set up anew.',
      command: `muster node resetup ${word(n.name)} --force --wait`,
    };
  if (p?.held !== undefined) return alarmRemedy({ code: heldAlarm(p.held), subject });
  if (n.cordon !== undefined)
    return {
      text: 'It is left alone while it is cordoned; its check begins when it is uncordoned.',
      command: `muster node uncordon ${word(n.name)}`,
    };
  if (p?.unreached !== undefined) return alarmRemedy({ code: 'check-unreachable', subject });
  if (p?.failedTries !== undefined) return alarmRemedy({ code: 'check-failed', subject });
  return { text: `Wait for its ${p?.next === undefined ? 'check' : 're-setup'}.`, command: 'muster job get active' };
}

/** Every reason. */
export const outGuides: Record<OutReason['code'], OutGuide> = {
  STATUS: { meaning: 'It is not Allocated.', remedy: ofStatus },
  STATE: { meaning: 'It is not heard, or was never heard, or its agent was shut out.', remedy: ofState },
  CORDONED: {
    meaning: 'An operator wants it left alone: neither fenced, given work, nor checked when it returns.',
    remedy: says('Uncordon it when it may serve again.', (n) => `muster node uncordon ${word(n.name)}`),
  },
  MAINTENANCE: {
    meaning: 'It was fenced, and its check has not passed yet.',
    remedy: says(
      'It comes back by itself when it is on and its check has passed.',
      (n) => `muster incident get ${word(n.name)}`,
    ),
  },
  DEGRADED: {
    meaning: 'A network of it is silent, and the policy for that is more than an alarm.',
    remedy: says('Look at its cable, its port and its interface.', why),
  },
  INCIDENT: {
    meaning: 'Its fencing is under way, or waits.',
    remedy: says('See how far it is, and what it waits for.', (n) => `muster incident get ${word(n.name)}`),
  },
  SHUTS_DOWN: {
    meaning: 'Its system was ordered to shut down, and runs the same boot still.',
    remedy: says(
      'It ends when the node runs in another boot. Where it does not shut down, an order to power it on takes the place of that one.',
      (n) => `muster node power on ${word(n.name)} --reason "…"`,
    ),
  },
  PENDING_RETURN: {
    meaning: 'It returned, and its check or its re-setup has not passed.',
    remedy: ofReturn,
  },
  RESERVED: {
    meaning: 'A job or a claim holds it.',
    remedy: says('Wait until the job has ended; a claim is given back by its owner (muster claim delete).', get),
  },
  NO_PROVISION_WORKER: {
    meaning: 'No live provisioner offers its driver.',
    remedy: says('Start one, or see in its log why its self-test fails.', () => 'muster drivers'),
  },
  NO_POWER_WORKER: {
    meaning: 'No live fencer offers a driver of its power devices.',
    remedy: says('Start one, or see in its log why its self-test fails.', () => 'muster drivers'),
  },
  VIEW_STALE: {
    meaning:
      'What is known of it may not be true any more: no detector has a quorum, or it is suspect and just being probed.',
    remedy: says('It ends by itself when a detector has a quorum again.', why),
  },
};

export const outRemedy = (code: OutReason['code'], n: NodeRecord): Remedy => outGuides[code].remedy(n);
