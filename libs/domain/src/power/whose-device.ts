import {
  identityBasis,
  knownIdentity,
  provenIdentity,
  type DeviceFacts,
  type HardwareFacts,
  type NodeRecord,
  type PowerDevice,
} from '#contracts';
import { isSameDevice, otherGuid, usableFacts } from '../node/device-identity.js';
import { guidOf } from '../node/guid.js';

/** Who a device said it is, or why it did not; times on this process's own monotonic clock, ms. */
export interface IdentityRead {
  device: string;
  /** `identityBasis` of the device that was asked. */
  basis: string;
  /** Absent: it was not read. */
  seen?: DeviceFacts;
  code?: string;
  detail?: string;
  startedMs: number;
  endedMs: number;
}

/**
 * What a device said of itself stands behind a command, or a read, that begins at most this much later than it was
 * asked, ms. Inventory asks the devices of a silent node this often, so what it has read before the order counts; and a
 * BMC that takes 5 s for each command can be asked who it is, read and switched off in this time. Within it an address
 * becomes another machine's only where somebody moves cables, or changes addresses, in the very moment in which the
 * node dies: the BMC must then have its link and its address again, which takes most of them longer.
 */
export const IDENTITY_FRESH_MS = 15_000;

export type DeviceOwner =
  /** Nothing that it says was ever proven to be the node's own, and it was asked, or there is nothing to compare with. */
  | { is: 'unproven' }
  /** The same of one whose machine says which BMC is its own, and that has not said it itself. `last`: how it was asked last. */
  | { is: 'unasked'; last?: IdentityRead }
  /** It said so when it was asked at `readsMs`. `last`: how it was asked last, which may have failed. */
  | { is: 'own'; readsMs: readonly number[]; last: IdentityRead }
  | { is: 'other'; why: string }
  /** It was proven once, and has not said who it is now. `last`: how it was asked last. */
  | { is: 'unread'; last?: IdentityRead };

/** What is known of whose the devices of a node are, and what its machine says of itself. */
export type Identified = Pick<NodeRecord, 'powerIdentity' | 'hardware'>;

/** What a device that was proven said of itself then. Undefined: it was never proven, or by a drill and says nothing. */
function provenFacts(n: Identified, d: PowerDevice): DeviceFacts | undefined {
  const facts = usableFacts(provenIdentity(n, d)?.seen ?? {});
  return Object.keys(facts).length > 0 ? facts : undefined;
}

/**
 * Whose is the device, by what is known of it and what it said since? The youngest reading that can be compared decides.
 * @param reads of any devices, places and credentials, in any order
 */
export function deviceOwner(n: Identified, d: PowerDevice, reads: readonly IdentityRead[]): DeviceOwner {
  const known = knownIdentity(n, d);
  if (known?.result === 'mismatch' && known.acknowledged === undefined)
    return { is: 'other', why: known.why ?? 'its identity differs' };
  const basis = identityBasis(d);
  const asked = reads.filter((r) => r.device === d.id && r.basis === basis).sort((a, b) => a.startedMs - b.startedMs);
  const last = asked.at(-1);
  const facts = provenFacts(n, d);
  if (facts === undefined) return known?.acknowledged === undefined ? ofUnproven(n, asked) : { is: 'unproven' };
  const answers = asked.flatMap(({ seen, startedMs }) => {
    const isOwn = seen === undefined ? undefined : isSameDevice(facts, seen);
    return isOwn === undefined ? [] : [{ isOwn, startedMs }];
  });
  if (last === undefined || answers.length === 0) return { is: 'unread', ...(last !== undefined && { last }) };
  if (answers.at(-1)?.isOwn !== true)
    return { is: 'other', why: 'another device answers in the place of the one that was proven' };
  return { is: 'own', readsMs: answers.flatMap(({ isOwn, startedMs }) => (isOwn ? [startedMs] : [])), last };
}

const tellsItsBmc = (own: HardwareFacts | undefined): boolean => guidOf(own?.bmcGuid) !== undefined;

/** A new device, or one that was edited, may be another machine's, and say so: @param asked in their order */
function ofUnproven({ hardware }: Identified, asked: readonly IdentityRead[]): DeviceOwner {
  if (!tellsItsBmc(hardware)) return { is: 'unproven' };
  const said = asked.findLast((r) => r.seen !== undefined)?.seen;
  const why = said && otherGuid(hardware, usableFacts(said));
  if (why !== undefined) return { is: 'other', why };
  if (said !== undefined) return { is: 'unproven' };
  const last = asked.at(-1);
  return { is: 'unasked', ...(last !== undefined && { last }) };
}

/** May what is given to the device, or read of it, at this time stand for its node? What was read before it said so may not. */
export function standsFor(owner: DeviceOwner, atMs: number): boolean {
  switch (owner.is) {
    case 'unproven':
      return true;
    case 'own':
      return owner.readsMs.some((readMs) => readMs <= atMs && atMs - readMs <= IDENTITY_FRESH_MS);
    case 'unasked':
      // Many BMCs refuse to say who they are: such a one may be used once it was asked.
      return wasAsked(owner.last) && atMs - owner.last.startedMs <= IDENTITY_FRESH_MS;
    default:
      return false;
  }
}

/** It was reached, whatever it said. */
export const wasAsked = (read: IdentityRead | undefined): read is IdentityRead =>
  read !== undefined && !notAsked.includes(read.code);

/** Why it is not known who a device is. @param last how it was asked last */
function whyUnread(last: Pick<IdentityRead, 'code' | 'detail'> | undefined): string {
  if (last === undefined) return 'it was not asked in time';
  if (last.code === undefined) return 'it says nothing that can be compared';
  return `${last.code}: ${last.detail ?? 'no detail'}`;
}

/** What is told of one that is not used for it. */
export const identityUnread = ({ id }: PowerDevice, last: Pick<IdentityRead, 'code' | 'detail'> | undefined): string =>
  `IDENTITY_UNREAD: ${id} may be another machine's, and does not say who it is (${whyUnread(last)})`;

/** Nobody has asked the device. */
const notAsked: readonly (string | undefined)[] = [
  'NODE_BUSY',
  'DRIVER_UNAVAILABLE',
  'CONFIG_INVALID',
  'DEADLINE_PASSED',
  'BUS_UNAVAILABLE',
];

/**
 * Why a device that was proven by what it says of itself could not be used now: it says nothing that can be compared with
 * that. Undefined: it says who it is, or there is nothing to compare, or it was not asked.
 */
export function unreadIdentity(
  n: Identified,
  d: PowerDevice,
  read: Pick<IdentityRead, 'seen' | 'code' | 'detail'>,
): string | undefined {
  const facts = provenFacts(n, d);
  if (facts === undefined || notAsked.includes(read.code)) return undefined;
  if (read.seen !== undefined && isSameDevice(facts, read.seen) !== undefined) return undefined;
  return whyUnread(read);
}

/** Some device of the node was proven by what it says. */
export const isProvenByWords = (n: Pick<NodeRecord, 'powerIdentity' | 'powerLevels'>): boolean =>
  n.powerLevels.flat().some((d) => provenFacts(n, d) !== undefined);

/** What its devices say of themselves can be compared with something, so they are to be asked before anything is switched. */
export const asksWho = (n: Identified & Pick<NodeRecord, 'powerLevels'>): boolean =>
  tellsItsBmc(n.hardware) || isProvenByWords(n);

/** The GUID alone tells whether it is the device that was proven; otherwise its serial numbers have to be read. */
export function guidIsEnough(n: Identified, d: PowerDevice): boolean {
  const facts = provenFacts(n, d);
  return facts === undefined || facts.guid !== undefined;
}
