import type { IncidentRecord, PowerOrder } from './incident.js';

/** `ordered` until the fencing leader has dealt with it; `failed` too where it became void before: `detail` says why. */
export const OrderPhases = ['ordered', 'done', 'failed'] as const;
export type OrderPhase = (typeof OrderPhases)[number];

/** What is told of an order to a node that has no incident, and the name under which it is told. */
export interface OrderStory {
  id: string;
  /** Of the first order that it tells of. */
  since: number;
  steps: { at: number; detail: string }[];
}

/** An operator's order to the power of a node, as it stands in the record that guards its BMC. */
export interface StoredOrder extends Omit<PowerOrder, 'done' | 'ok'> {
  phase: OrderPhase;
  /** Where the node has no incident, in whose steps it would be told. */
  story?: OrderStory;
}

/**
 * The log that guards a node's BMC, whoever orders its power: the token of the fencing leader that owns it, and each command,
 * written before it is given. The power quarantine follows from these, on the clock of whoever asks.
 */
export type CommandLog = Pick<IncidentRecord, 'epoch' | 'commands' | 'devicesAfter' | 'onBefore' | 'denied'>;

/** What of an incident is its own: neither the log nor an order. */
export type IncidentPart = Omit<IncidentRecord, keyof CommandLog | 'node' | 'updatedAt' | 'order' | 'unreadable'>;

/**
 * The one record that guards every write to a node's BMC: bucket `incidents`, key = node. Beside the log stands what
 * orders its power: a fencing, an operator's order, or both.
 */
export interface PowerRecord {
  schema: typeof POWER_RECORD_SCHEMA;
  node: string;
  updatedAt: number;
  /** Its commands are those of both; the order's have numbers above its `after`. */
  log: CommandLog;
  /** The last of the node, open or not. */
  incident?: IncidentPart;
  order?: StoredOrder;
}

/** Of the bucket `incidents`. In the first an order stood in an incident, which was made for it where there was none. */
export const POWER_RECORD_SCHEMA = 2;

export const commandLogOf = ({ epoch, commands, devicesAfter, onBefore, denied }: CommandLog): CommandLog => ({
  ...(epoch !== undefined && { epoch }),
  commands,
  ...(devicesAfter !== undefined && { devicesAfter }),
  ...(onBefore !== undefined && { onBefore }),
  ...(denied !== undefined && { denied }),
});

/** The record as it is stored: each part by itself. The way back is {@link incidentIn}. */
export function powerRecordOf(i: IncidentRecord): PowerRecord {
  const record: PowerRecord = {
    schema: POWER_RECORD_SCHEMA,
    node: i.node,
    updatedAt: i.updatedAt,
    log: commandLogOf(i),
  };
  if (i.order === undefined || !isForOrderAlone(i)) record.incident = incidentPart(i);
  if (i.order !== undefined) record.order = storedOrder(i.order);
  if (record.order !== undefined && record.incident === undefined)
    record.order.story = { id: i.id, since: i.openedAt, steps: i.steps.map(({ at, detail }) => ({ at, detail })) };
  return record;
}

function incidentPart(i: IncidentRecord): IncidentPart {
  const { node: _key, updatedAt: _time, order: _order, unreadable: _never, ...rest } = i;
  const { epoch: _epoch, commands: _commands, devicesAfter: _after, onBefore: _before, ...others } = rest;
  const { denied: _denied, ...incident } = others;
  return incident;
}

/** Its first step closes it, and no conductor has decided on it since: it was never open. */
const isForOrderAlone = (i: Pick<IncidentRecord, 'phase' | 'conductor' | 'steps'>): boolean =>
  i.phase === 'closed' && i.conductor === 0 && i.steps[0]?.phase === 'closed';

/** As the programs see the node's record, and the API shows it: an order to a node without an incident as one that is over. */
export function incidentIn(r: Omit<PowerRecord, 'schema'>): IncidentRecord {
  const { node, updatedAt, log, order } = r;
  return {
    ...(r.incident ?? overAtOnce(order)),
    node,
    updatedAt,
    ...commandLogOf(log),
    ...(order !== undefined && { order: orderOf(order) }),
  };
}

function overAtOnce(order: StoredOrder | undefined): IncidentPart {
  const story = order?.story;
  return {
    id: story?.id ?? '',
    phase: 'closed',
    cause: 'manual',
    ...(order !== undefined && { by: order.by }),
    reason: order?.reason ?? '',
    openedAt: story?.since ?? order?.at ?? 0,
    gates: [],
    conductor: 0,
    level: 0,
    attempt: 0,
    recovery: [],
    steps: (story?.steps ?? []).map((s) => ({ phase: 'closed', ...s })),
  };
}

function storedOrder({ done, ok, ...order }: PowerOrder): StoredOrder {
  if (done !== true) return { ...order, phase: 'ordered' };
  return { ...order, phase: ok === true ? 'done' : 'failed' };
}

function orderOf({ phase, story: _told, ...order }: StoredOrder): PowerOrder {
  return phase === 'ordered' ? order : { ...order, done: true, ok: phase === 'done' };
}
