import {
  identityStanding,
  incidentIn,
  knownIdentity,
  MusterError,
  phaseText,
  type CommandLog,
  type FencingSettings,
  type Hold,
  type IncidentRecord,
  type NodeRecord,
  type PowerActionRequest,
  type PowerDevice,
  type PowerOrder,
} from '#contracts';
import { isOrderPending, withoutOrder } from '../incident/pending-order.js';
import { note } from '../incident/steps.js';
import { quietPhases } from '../incident/phases.js';
import { ungatedText } from '../workload/ungated.js';
import { mayPower } from './may-power.js';
import { powerOnDevices, provenLevel, softDevices } from './power-wish.js';
import { doNotPowerOnBefore } from './quarantine.js';
import { softsOf } from '../incident/shut-down.js';

export type PowerAction = PowerActionRequest['action'];

/** As read for this one decision. */
export interface PowerFacts {
  node: NodeRecord;
  fencing: FencingSettings;
  hold: Hold | undefined;
  /** The last of the node, open or not. */
  incident: IncidentRecord | undefined;
  /** Why the node must be left alone, as its power quarantine has not passed on the asker's own clock. */
  quarantined: string | undefined;
  /** Assigned to it. */
  workloads: readonly string[];
  /** Live fencers outside of it; undefined: not known. */
  fencers: number | undefined;
  /** Wall clock, ms: a pause ends by the time of day. */
  wallNow: number;
}

/**
 * The first thing that stands against the order; undefined: it may be given. Nothing is written before.
 * @param level the first fencing level that an off may come to, from 0
 */
export function refusedPower(action: PowerAction, f: PowerFacts, level = 0): MusterError | undefined {
  const { node } = f;
  const refuse = (code: ConstructorParameters<typeof MusterError>[0], text: string, facts = {}): MusterError =>
    new MusterError(code, text, { node: node.name, action, ...facts });
  const off = writesForbidden(f);
  if (off !== undefined) return refuse('FENCING_REFUSED', off);
  if (!node.powerLevels.some((level) => level.length > 0))
    return refuse('FENCING_REFUSED', `${node.name} has no power device: add one with PATCH /v1/nodes/${node.name}.`);
  const foreign = devicesOf(action, f, level).filter((d) => identityStanding(node, d) === 'mismatch');
  if (foreign.length > 0)
    return refuse('IDENTITY_MISMATCH', foreignText(action, node, foreign), { devices: foreign.map((d) => d.id) });
  if (f.hold?.job !== undefined)
    return refuse('NODE_RESERVED', `${node.name} is held by job ${f.hold.job}: wait for it, or cancel it.`, {
      job: f.hold.job,
    });
  if (f.fencers === undefined || f.fencers === 0)
    return refuse('NO_WORKERS', `No live fencer is known outside of ${node.name}: nobody could carry it out.`);
  // The incident of a node that is off, or on its way back: a fencing would only join it, and do nothing.
  if (f.incident?.phase === 'recovered' && (action === 'off' || action === 'cycle')) {
    const text = node.confirmedOff === undefined ? 'it is on its way back into service' : 'it is off already';
    return refuse('INCIDENT_STATE', `By incident ${f.incident.id} of ${node.name} ${text}.`, {
      incident: f.incident.id,
      phase: f.incident.phase,
    });
  }
  // Off by hand joins what is under way: it wants the same.
  if (action === 'off') return undefined;
  const before = f.incident && doNotPowerOnBefore(f.incident);
  if (f.incident !== undefined && !quietPhases.includes(f.incident.phase))
    return refuse(
      'INCIDENT_STATE',
      `Incident ${f.incident.id} of ${node.name} is ${phaseText(f.incident)}: its power is the incident's until it is recovered.`,
      { incident: f.incident.id, phase: f.incident.phase, ...(before !== undefined && { doNotPowerOnBefore: before }) },
    );
  if (isUnderWay(f.incident))
    return refuse('NODE_BUSY', `An order to the power of ${node.name} is under way: wait until it is done.`);
  if (f.quarantined !== undefined)
    return refuse('NODE_BUSY', `${node.name} must be left alone for now: ${f.quarantined}.`, {
      ...(before !== undefined && { doNotPowerOnBefore: before }),
    });
  return action === 'soft' ? refusedSoft(f, refuse) : undefined;
}

/** Those that the order may come to. */
function devicesOf(action: PowerAction, f: PowerFacts, level: number): readonly PowerDevice[] {
  const levels = f.node.powerLevels;
  if (action === 'soft') return softDevices(levels);
  return action === 'on'
    ? powerOnDevices(f.incident ?? { commands: [] }, provenLevel(f.incident ?? {}), levels)
    : levels.slice(level).flat();
}

function foreignText(action: PowerAction, node: NodeRecord, foreign: readonly PowerDevice[]): string {
  const [first] = foreign;
  const why = (first && knownIdentity(node, first)?.why) ?? 'its identity differs';
  const isDown = `; where it is seen to be down: muster node fence ${node.name} --reason "…", then muster incident confirm ${node.name} --reason "…"`;
  return `Power device ${foreign.map((d) => d.id).join(', ')} of ${node.name} is another machine's: ${why}. Correct the wiring or the address, then muster node power-device test ${node.name}; where it is its own all the same: muster node power-device acknowledge ${node.name} ${first?.id} --reason "…"${action === 'off' ? isDown : ''}.`;
}

/** A system that shuts down takes its workloads with it, and an Allocated node that stays away is fenced after a while. */
function refusedSoft(
  f: Pick<PowerFacts, 'node' | 'workloads'>,
  refuse: (
    code: 'WORKLOADS_PRESENT' | 'NOT_DISCOVERED' | 'FENCING_REFUSED',
    text: string,
    facts?: object,
  ) => MusterError,
): MusterError | undefined {
  const { node, workloads } = f;
  if (workloads.length > 0)
    return refuse('WORKLOADS_PRESENT', `${node.name} has workloads, drain it first: ${workloads.join(' ')}`, {
      workloads,
    });
  if (node.state !== 'Discovered')
    return refuse('NOT_DISCOVERED', `${node.name} is ${node.state}: there is no system that could be asked.`);
  if (node.status === 'Allocated' && node.cordon === undefined)
    return refuse('FENCING_REFUSED', `${node.name} would be fenced when it stays away: cordon or drain it first.`);
  return undefined;
}

/** Why no power device may be written to, and how that is ended. */
function writesForbidden(f: PowerFacts): string | undefined {
  const permission = mayPower('operator', f.fencing, f.node, f.wallNow);
  if (permission.may) return undefined;
  switch (permission.bar.kind) {
    case 'observe':
      return 'The mode is observe, in which no power device is written to: set it to enforce with PUT /v1/fencing.';
    case 'paused':
      return `${permission.detail} End the pause with PUT /v1/fencing.`;
    default:
      return permission.detail;
  }
}

const isUnderWay = (i: IncidentRecord | undefined): boolean =>
  (i !== undefined && isOrderPending(i)) || (i?.powerOn?.wanted === true && i.powerOn.done !== true);

export interface NewOrder {
  id: string;
  node: NodeRecord;
  action: PowerOrder['action'];
  by: string;
  reason: string;
  /** Wall clock, for people. */
  at: number;
}

/**
 * The node's record with the order in it: beside the incident that is recovered or over, or, where the node had none,
 * alone. It stands in the way of nothing.
 */
export function withOrder(was: IncidentRecord | undefined, o: NewOrder): IncidentRecord {
  const { ungated, bootId } = o.node;
  const warning =
    ungated === undefined || o.action === 'soft' ? '' : ` (${ungatedText(ungated)}: its boot may start that again)`;
  const text = `${o.by} ordered power ${o.action}: ${o.reason}${warning}`;
  const log: CommandLog = was ?? { commands: [] };
  const after = log.commands.reduce((most, c) => Math.max(most, c.n), 0);
  const order: PowerOrder = { action: o.action, by: o.by, reason: o.reason, at: o.at, after };
  if (bootId !== undefined) order.bootId = bootId;
  if (was !== undefined) return { ...note(was, text, o.at), order };
  const story = { id: o.id, since: o.at, steps: [{ at: o.at, detail: text }] };
  return incidentIn({ node: o.node.name, updatedAt: o.at, log, order: { ...order, phase: 'ordered', story } });
}

/** What became of an order that is still to be carried out when this incident takes the place of its record. */
export const supersededBy = (order: PowerOrder, by: Pick<IncidentRecord, 'by' | 'reason'>): string =>
  `${order.by} had ordered power ${order.action} (${order.reason}), which is void: superseded by ${
    by.by === undefined ? 'the incident of the node' : `${by.by}, who ordered it off`
  }: ${by.reason}`;

/** Nobody carried it out in time. Undefined: it is dealt with, or another one by now. */
export function lapsed(i: IncidentRecord, order: PowerOrder): IncidentRecord | undefined {
  if (i.order?.at !== order.at || !isOrderPending(i)) return undefined;
  return withoutOrder(i, 'No fencer carried it out in time.');
}

/**
 * What a `soft` was allowed on is no longer so, as its node was uncordoned: it is void unless its command was given.
 * Undefined: it stands, or another one by now.
 */
export function overtaken(
  i: IncidentRecord,
  order: PowerOrder,
  f: Pick<PowerFacts, 'node' | 'workloads'>,
): IncidentRecord | undefined {
  if (order.action !== 'soft' || i.order?.at !== order.at || !isOrderPending(i)) return undefined;
  if (softsOf(i, order.after).length > 0) return undefined;
  const refused = refusedSoft(f, (code, text) => new MusterError(code, text));
  return refused && withoutOrder(i, refused.message);
}
