import { identityBasis, knownIdentity, type NodeRecord } from '#contracts';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { madeOnce, perFleet } from '../../snapshot/per-fleet.js';
import type { PeriodicRead } from '../../snapshot/periodic-reads.js';
import type { Concern } from '../concern.js';
import { eachRecord, type Decided } from '../each-record.js';
import type { BeginIdentityRead } from '../intent.js';

/** A device is asked again after this, ms: cables are moved while nobody looks. */
const AGAIN_MS = 6 * 3_600_000;
/** The same where it could not be read, or nobody was there to read it. */
const FAILED_AGAIN_MS = 60_000;
/** Reads at once: the queue of the fencers is for those who fence. */
const AT_ONCE = 4;

type ReadCondition =
  /** The node is there, and has power devices. */
  | `seen/${string}`
  /** It has these devices, and its machine says this of itself. */
  | `stands/${string}`
  /** When the node was first seen, it had these, and of each it was known whose it is. */
  | `in-turn/${string}`
  /** One of them was found to be another machine's since this read. */
  | `foreign/${string}`;

/** Power devices of one node. */
interface Devices {
  readonly node: NodeRecord;
  /** What is asked for: devices, and what the machine says of itself. */
  readonly about: string;
  /** It is known of each whose it is. */
  readonly isKnown: boolean;
  /** One of them is another machine's. */
  readonly isForeign: boolean;
  /** They are long, and there are thousands of them at each look: made once. */
  readonly conditions: Readonly<Record<'seen' | 'stands' | 'inTurn', ReadCondition>>;
}

/** Compares power devices with their machines in good days. */
export const periodicReads: Concern<ReadCondition> = {
  // All nodes are looked at, and it is woken by every change of any record.
  pace: { everyMs: 500 },
  isKnown: ({ nodes }) => nodes.live,
  conditions: (fleet, ages) => ({ holds: devicesIn(fleet).made.flatMap((d) => conditionsOf(d, fleet, ages)) }),
  plan: (fleet, ages) => {
    const { made, failed } = devicesIn(fleet);
    const free = Math.max(0, AT_ONCE - fleet.periodicReads.underWay());
    return [...failed, ...made.flatMap((d) => wanted(d, fleet, ages)).slice(0, free)];
  },
};

const devicesIn = perFleet(({ nodes }: Fleet): Decided<Devices> =>
  eachRecord(
    nodes.list,
    ({ key: node }) => ({ node }),
    ({ value }) => (value.powerLevels.some((level) => level.length > 0) ? [devicesOf(value)] : []),
  ),
);

/** Of a record that has not changed, it is the same. */
const devicesOf = madeOnce((node: NodeRecord): Devices => {
  const devices = node.powerLevels.flat();
  const known = devices.map((d) => knownIdentity(node, d));
  const about = JSON.stringify([devices.map(identityBasis), node.hardware ?? null]);
  const { name } = node;
  return {
    node,
    about,
    isKnown: known.every((k) => k !== undefined),
    isForeign: known.some((k) => k?.result === 'mismatch'),
    conditions: { seen: `seen/${name}`, stands: `stands/${name}/${about}`, inTurn: `in-turn/${name}/${about}` },
  };
});

function conditionsOf(d: Devices, fleet: Fleet, ages: Ages<ReadCondition>): ReadCondition[] {
  const { seen, stands, inTurn } = d.conditions;
  const last = lastRead(d, fleet, ages);
  return [
    seen,
    stands,
    ...(isInTurn(d, ages) ? [inTurn] : []),
    ...(isFoundForeign(d, last, ages) ? [foreign(d, last)] : []),
  ];
}

function wanted(d: Devices, fleet: Fleet, ages: Ages<ReadCondition>): BeginIdentityRead[] {
  const { node, about } = d;
  const last = lastRead(d, fleet, ages);
  const reason = whyDue(d, last, fleet, ages);
  if (reason === undefined) return [];
  // A BMC that starts anew says nothing for a while: it is written down from the second time on.
  const marks = last?.isUnread === true;
  return [{ do: 'begin-identity-read', about: { node: node.name }, reason, read: { node, about, marks } }];
}

/** Undefined: they are not read now. */
function whyDue(
  d: Devices,
  last: PeriodicRead | undefined,
  fleet: Fleet,
  ages: Ages<ReadCondition>,
): string | undefined {
  const age = last?.begunAgo ?? ages.of(d.conditions.stands);
  if (isFoundForeign(d, last, ages) && age >= FAILED_AGAIN_MS)
    return 'One of its power devices is another machine’s: whoever has mended the wiring sees it soon.';
  if (last === undefined) {
    if (!isInTurn(d, ages)) return 'It has a power device, or says of itself, what was never compared.';
    // Whoever takes over has a record of most: those are asked in their turn, spread over the whole time.
    return age >= fleet.periodicReads.shareOf(d.node.name) * AGAIN_MS
      ? 'The turn of its power devices has come.'
      : undefined;
  }
  if (last.failedAgo !== undefined)
    return last.failedAgo >= FAILED_AGAIN_MS ? 'Not every power device has said who it is.' : undefined;
  return age >= AGAIN_MS
    ? 'Its power devices were not asked for hours: cables are moved while nobody looks.'
    : undefined;
}

/** The last read of these devices. One that was begun before an edit says nothing of them, also where that was taken back. */
function lastRead(d: Devices, { periodicReads: reads }: Fleet, ages: Ages<ReadCondition>): PeriodicRead | undefined {
  const last = reads.of(d.node.name);
  return last?.about === d.about && last.begunAgo <= ages.of(d.conditions.stands) ? last : undefined;
}

/** It was known whose they are when the node was first seen, and nothing has changed since. */
const isInTurn = (d: Devices, ages: Ages<ReadCondition>): boolean =>
  ages.of(d.conditions.seen) === 0 ? d.isKnown : ages.of(d.conditions.inTurn) > 0;

/** Also where somebody has found since that it is not. */
const isFoundForeign = (d: Devices, last: PeriodicRead | undefined, ages: Ages<ReadCondition>): boolean =>
  d.isForeign || ages.of(foreign(d, last)) > 0;

const foreign = ({ node, about }: Devices, last: PeriodicRead | undefined): ReadCondition => {
  const isFailed = last?.failedAgo !== undefined;
  return `foreign/${node.name}/${last === undefined ? about : `${last.id}/${isFailed ? 'failed' : 'begun'}`}`;
};
