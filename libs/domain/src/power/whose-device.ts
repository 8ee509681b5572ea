import {
  identityBasis,
  knownIdentity,
  provenIdentity,
  type CommandLog,
  type DeviceDenial,
  type DeviceFacts,
  type HardwareFacts,
  type NodeRecord,
  type PowerDevice,
} from '#contracts';
import { isSameDevice, otherGuid, usableFacts } from '../node/device-identity.js';
import { guidOf, sameGuid } from '../node/guid.js';

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
  /** Another process has read it: before a denial that is on record, or after it. */
  byOther?: true;
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
  /** Nothing that it says was ever proven to be the node's own, and there is nothing to compare it with. */
  | { is: 'unproven' }
  /** The same of one whose machine says which BMC is its own, and that has not said whose it is. `last`: how it was asked last. */
  | { is: 'unsaid'; last?: IdentityRead }
  /** It said so when it was asked at `readsMs`. `last`: how it was asked last, which may have failed. */
  | { is: 'own'; readsMs: readonly number[]; last: IdentityRead }
  | { is: 'other'; why: string }
  /** It was proven once, or has denied it once, and has not said who it is now. `last`: how it was asked last. */
  | { is: 'unread'; last?: IdentityRead };

/** What is known of whose the devices of a node are, what its machine says of itself, and which of them have denied it. */
export type Identified = Pick<NodeRecord, 'powerIdentity' | 'hardware'> & Pick<CommandLog, 'denied'>;

/** What a device that was proven said of itself then. Undefined: it was never proven, or by a drill and says nothing. */
function provenFacts(n: Identified, d: PowerDevice): DeviceFacts | undefined {
  const facts = usableFacts(provenIdentity(n, d)?.seen ?? {});
  return Object.keys(facts).length > 0 ? facts : undefined;
}

/**
 * Whose is the device, by what is known of it and what it said since? The youngest reading that can be compared decides.
 * One that has denied it before is as one that was proven: what it refuses to say stands for nothing.
 * @param reads of any devices, places and credentials, in any order
 */
export function deviceOwner(n: Identified, d: PowerDevice, reads: readonly IdentityRead[]): DeviceOwner {
  const known = knownIdentity(n, d);
  if (known?.result === 'mismatch' && known.acknowledged === undefined)
    return { is: 'other', why: known.why ?? 'its identity differs' };
  const [isProven, hasDenied] = [provenFacts(n, d) !== undefined, denialOf(n, d) !== undefined];
  if (!isProven && (known?.acknowledged !== undefined || !(hasDenied || tellsItsBmc(n.hardware))))
    return { is: 'unproven' };
  const asked = readsOf(n, d, reads);
  const last = asked.at(-1);
  const words = wordsOf(n, d, asked);
  const word = words.at(-1);
  if (last === undefined || word === undefined)
    return { is: isProven || hasDenied ? 'unread' : 'unsaid', ...(last !== undefined && { last }) };
  if (!word.isOwn) return { is: 'other', why: whyOther(n, isProven, word.seen) };
  return { is: 'own', readsMs: words.flatMap(({ isOwn, startedMs }) => (isOwn ? [startedMs] : [])), last };
}

const tellsItsBmc = (own: HardwareFacts | undefined): boolean => guidOf(own?.bmcGuid) !== undefined;

function whyOther({ hardware }: Identified, isProven: boolean, seen: DeviceFacts): string {
  const why = isProven ? undefined : otherGuid(hardware, usableFacts(seen));
  return why ?? 'another device answers in the place of the one that was proven';
}

/** How it was asked, in that order: what was said in another place, or to others, is about another device. */
function readsOf(n: Identified, d: PowerDevice, reads: readonly IdentityRead[]): IdentityRead[] {
  const basis = identityBasis(d);
  const hasDenied = denialOf(n, d) !== undefined;
  const mayBeBefore = (r: IdentityRead): boolean =>
    hasDenied && r.byOther === true && r.seen !== undefined && isOwnWord(n, d, r.seen) === true;
  return reads
    .filter((r) => r.device === d.id && r.basis === basis && !mayBeBefore(r))
    .sort((a, b) => a.startedMs - b.startedMs);
}

/** What it said that can be compared. */
const wordsOf = (
  n: Identified,
  d: PowerDevice,
  asked: readonly IdentityRead[],
): { isOwn: boolean; seen: DeviceFacts; startedMs: number }[] =>
  asked.flatMap(({ seen, startedMs }) => {
    const isOwn = seen && isOwnWord(n, d, seen);
    return seen === undefined || isOwn === undefined ? [] : [{ isOwn, seen, startedMs }];
  });

/**
 * Is who says this the node's own device? Undefined: it cannot be compared. Of one that was never proven the GUID alone tells
 * it: the UUID of its system, or a serial number, may differ from what a BMC says on a good board.
 */
function isOwnWord(n: Identified, d: PowerDevice, seen: DeviceFacts): boolean | undefined {
  const facts = provenFacts(n, d);
  if (facts !== undefined) return isSameDevice(facts, seen);
  const [own, said] = [guidOf(n.hardware?.bmcGuid), guidOf(seen.guid)];
  return own === undefined || said === undefined ? undefined : sameGuid(own, said);
}

/** That the device as it is now is another machine's, by its own word; not where what it said is the machine's by now. */
function denialOf(n: Identified, d: PowerDevice): DeviceDenial | undefined {
  const denial = n.denied?.[d.id];
  return denial?.basis === identityBasis(d) && isOwnWord(n, d, denial.seen) !== true ? denial : undefined;
}

/**
 * What the devices of a node deny after these reads, for the record: a later attempt, or another leader, knows nothing else of
 * it. Undefined: as it is on record.
 * @param atMs wall clock
 */
export function denialsAfter(
  n: Identified & Pick<NodeRecord, 'powerLevels'>,
  reads: readonly IdentityRead[],
  atMs: number,
): NonNullable<CommandLog['denied']> | undefined {
  const denied = { ...n.denied };
  let isNew = false;
  for (const d of n.powerLevels.flat()) {
    const word = wordsOf(n, d, readsOf(n, d, reads)).at(-1);
    if (word === undefined || knownIdentity(n, d)?.acknowledged !== undefined) continue;
    const [basis, seen, was] = [identityBasis(d), usableFacts(word.seen), denied[d.id]];
    if (word.isOwn ? was?.basis !== basis : was?.basis === basis && isSameDevice(was.seen, seen) === true) continue;
    isNew = true;
    if (word.isOwn) delete denied[d.id];
    else denied[d.id] = { basis, seen, at: atMs };
  }
  return isNew ? denied : undefined;
}

/** May what is given to the device, or read of it, at this time stand for its node? What was read before it said so may not. */
export function standsFor(owner: DeviceOwner, atMs: number): boolean {
  switch (owner.is) {
    case 'unproven':
      return true;
    case 'own':
      return owner.readsMs.some((readMs) => readMs <= atMs && atMs - readMs <= IDENTITY_FRESH_MS);
    case 'unsaid':
      // Many BMCs refuse to say who they are: such a one may be used once it was asked.
      return wasAsked(owner.last) && atMs - owner.last.startedMs <= IDENTITY_FRESH_MS;
    default:
      return false;
  }
}

/** It was reached, and said something, or refused to. */
export const wasAsked = (read: IdentityRead | undefined): read is IdentityRead =>
  read !== undefined && (read.code === undefined || refusals.includes(read.code));

/**
 * As a driver tells them of a BMC that has answered. One of which nothing was heard may be another machine's, whose address
 * has not come to it yet; and what takes too long to say who it is takes as long to be switched off.
 */
const refusals: readonly string[] = ['BMC_REFUSED', 'BMC_AUTH', 'BMC_CIPHER'];

/** Why it is not known who a device is. @param last how it was asked last */
function whyUnread(last: Pick<IdentityRead, 'code' | 'detail'> | undefined): string {
  if (last === undefined) return 'it was not asked in time';
  if (last.code === undefined) return 'it says nothing that can be compared';
  return `${last.code}: ${last.detail ?? 'no detail'}`;
}

/** What is told of one that is not used for it. */
export const identityUnread = ({ id }: PowerDevice, last: Pick<IdentityRead, 'code' | 'detail'> | undefined): string =>
  `IDENTITY_UNREAD: ${id} may be another machine's, and does not say who it is (${whyUnread(last)})`;

/** Nobody has asked the device, or to the end. */
const notAsked: readonly (string | undefined)[] = [
  'COMMAND_FAILED',
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
  tellsItsBmc(n.hardware) || isProvenByWords(n) || n.powerLevels.flat().some((d) => denialOf(n, d) !== undefined);

/**
 * The GUID alone tells whether it is the device that was proven; otherwise its serial numbers have to be read. One that was
 * never proven is compared by its GUID alone, see `isOwnWord`; its serial numbers are read in good days.
 */
export function guidIsEnough(n: Identified, d: PowerDevice): boolean {
  const facts = provenFacts(n, d);
  return facts === undefined || facts.guid !== undefined;
}
