import { isSerial, type DeviceFacts, type HardwareFacts, type IdentityProof, type PowerIdentity } from '#contracts';
import { guidKey, guidOf, sameGuid } from './guid.js';

/** Who says from within that a value is its own. */
export type IdentityIndex = ReadonlyMap<string, readonly string[]>;

const serialOf = (text: string | undefined): string | undefined => {
  const trimmed = (text ?? '').trim();
  return isSerial(trimmed) ? trimmed.toUpperCase() : undefined;
};

/** What is compared with what: a device's word over the network with the machine's own, like with like. */
interface Comparable {
  words: string;
  /** What it is called where it proves that the device is the node's own. */
  proves: IdentityProof;
  /** Of the device. Undefined: it says nothing that can tell one machine from another. */
  ofDevice: (seen: DeviceFacts) => string | undefined;
  /** Of the machine, from within: any of them is its own. */
  ofMachine: (own: HardwareFacts) => readonly (string | undefined)[];
  /** One text for all writings of one value. */
  key: (value: string) => string;
}

const serialNumber = (words: string, field: 'boardSerial' | 'chassisSerial'): Comparable => ({
  words,
  proves: 'serial',
  ofDevice: (seen) => serialOf(seen[field]),
  ofMachine: (own) => [serialOf(own[field])],
  key: (value) => value,
});

/** In the order in which they are asked, and one that proves is named. */
const comparables = {
  guid: {
    words: 'GUID',
    proves: 'guid',
    ofDevice: (seen) => guidOf(seen.guid),
    // That of the BMC by its own interface in the machine, and that of the system by DMI.
    ofMachine: (own) => [guidOf(own.bmcGuid), guidOf(own.systemUuid)],
    key: guidKey,
  },
  boardSerial: serialNumber('board serial', 'boardSerial'),
  chassisSerial: serialNumber('chassis serial', 'chassisSerial'),
} satisfies Record<keyof DeviceFacts, Comparable>;
type Kind = keyof typeof comparables;
const Kinds = Object.keys(comparables) as Kind[];

const keyOf = (kind: Kind, value: string): string => `${kind} ${comparables[kind].key(value)}`;

/** What of it can tell one machine from another. */
export const usableFacts = (seen: DeviceFacts): DeviceFacts =>
  Object.fromEntries(
    Kinds.flatMap((kind) => {
      const value = comparables[kind].ofDevice(seen);
      return value === undefined ? [] : [[kind, value]];
    }),
  );

const ownValues = (own: HardwareFacts | undefined, kind: Kind): string[] =>
  own === undefined ? [] : comparables[kind].ofMachine(own).flatMap((value) => value ?? []);

/**
 * Why it is not the machine's BMC, whatever else it says: a BMC has one GUID. Undefined: nothing speaks against it by that.
 * A UUID of the system or a serial number alone denies nothing: on many boards the BMC has others.
 */
export function otherGuid(own: HardwareFacts | undefined, { guid }: DeviceFacts): string | undefined {
  const bmcGuid = guidOf(own?.bmcGuid);
  if (bmcGuid === undefined || guid === undefined || sameGuid(bmcGuid, guid)) return undefined;
  return `the machine's own BMC has GUID ${bmcGuid}, this one has ${guid}`;
}

export function identityIndex(nodes: Iterable<{ name: string; hardware?: HardwareFacts }>): IdentityIndex {
  const index = new Map<string, string[]>();
  for (const { name, hardware } of nodes)
    for (const kind of Kinds)
      for (const key of new Set(ownValues(hardware, kind).map((value) => keyOf(kind, value))))
        index.set(key, [...(index.get(key) ?? []), name]);
  return index;
}

export interface Comparison {
  node: string;
  /** What the machine says of itself; undefined: it was never asked. */
  own: HardwareFacts | undefined;
  index: IdentityIndex;
  /** What the device says; what it did not say is left out. */
  seen: DeviceFacts;
  /** What is known of it for the same place and credentials. */
  known: PowerIdentity | undefined;
  basis: string;
  /** Wall clock, ms. */
  at: number;
}

/**
 * Is the device the node's own? Like with like, and nothing is concluded from what is missing: the last result stands
 * until something speaks against it.
 */
export function comparedIdentity(c: Comparison): PowerIdentity {
  const seen = withKnown(usableFacts(c.seen), c.known?.seen);
  const changed = c.known?.seen !== undefined && Kinds.some((k) => differ(c.known?.seen?.[k], seen[k], k));
  const told = Kinds.filter((kind) => seen[kind] !== undefined);
  const result = (r: Omit<PowerIdentity, 'at' | 'basis' | 'seen'>): PowerIdentity => ({
    ...r,
    at: c.at,
    ...(told.length > 0 && { seen }),
    basis: c.basis,
  });
  const mismatch = (why: string): PowerIdentity => {
    const acknowledged = c.known?.result === 'mismatch' && !changed ? c.known.acknowledged : undefined;
    return result({ result: 'mismatch', why, ...(acknowledged !== undefined && { acknowledged }) });
  };
  if (told.length === 0)
    return c.known ?? result({ result: 'unproven', why: 'it tells neither a GUID nor a serial number' });

  const notItsBmc = otherGuid(c.own, seen);
  if (notItsBmc !== undefined) return mismatch(`${notItsBmc}${ofWhom(c, seen, told)}`);

  const isOwn = (kind: Kind): boolean =>
    ownValues(c.own, kind).some((value) => keyOf(kind, value) === keyOf(kind, seen[kind] ?? ''));
  const equal = told.filter(isOwn);
  // Who claims the same later takes nothing from it: two machines can be made to say one thing, a proof cannot be undone.
  if (c.known?.result === 'proven' && !changed && (c.known.by === 'drill' || equal.length > 0)) return c.known;

  const holders = (kind: Kind): string[] =>
    (c.index.get(keyOf(kind, seen[kind] ?? '')) ?? []).filter((name) => name !== c.node);
  const foreign = told.filter((kind) => !isOwn(kind) && holders(kind).length > 0);
  if (foreign.length > 0) return mismatch(`it is not this machine's${ofWhom(c, seen, foreign)}`);

  const unique = equal.find((kind) => holders(kind).length === 0);
  if (unique !== undefined) return result({ result: 'proven', by: comparables[unique].proves });

  const differs = told.find((kind) => !isOwn(kind) && ownValues(c.own, kind).length > 0);
  if (differs !== undefined)
    return mismatch(
      `its ${comparables[differs].words} is ${seen[differs]}, the machine's is ${ownValues(c.own, differs)[0]}`,
    );
  if (changed && c.known?.result === 'proven')
    return mismatch('another device answers in the place of the one that was proven');
  // Found by what it did, not by what it says: words that prove nothing do not take it back.
  if (c.known?.result === 'mismatch' && c.known.seen === undefined) return c.known;
  if (equal.length > 0)
    return result({
      result: 'unproven',
      why: `its ${comparables[equal[0] ?? 'guid'].words} is also that of ${listed(holders(equal[0] ?? 'guid'))}: it names no machine`,
    });
  if (c.known !== undefined && !changed) return c.known;
  return result({
    result: 'unproven',
    why:
      c.own === undefined
        ? 'the machine has not been asked yet who it is'
        : 'the machine tells nothing to compare it with',
  });
}

/** `: it is that of host3 (GUID …)` where another node says so. */
function ofWhom(c: Comparison, seen: DeviceFacts, kinds: readonly Kind[]): string {
  for (const kind of kinds) {
    const value = seen[kind] ?? '';
    const names = (c.index.get(keyOf(kind, value)) ?? []).filter((name) => name !== c.node);
    if (names.length > 0) return `: by its ${comparables[kind].words} ${value} it is that of ${listed(names)}`;
  }
  return '';
}

const listed = (names: readonly string[]): string =>
  names.length <= 3 ? names.join(' and ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;

const differ = (a: string | undefined, b: string | undefined, kind: Kind): boolean =>
  a !== undefined && b !== undefined && keyOf(kind, a) !== keyOf(kind, b);

/**
 * Is a device that says this now the one that said the other before? Undefined: nothing of the two can be compared. What
 * one of them leaves out is no difference.
 */
export function isSameDevice(before: DeviceFacts, now: DeviceFacts): boolean | undefined {
  const [was, is] = [usableFacts(before), usableFacts(now)];
  if (Kinds.some((kind) => differ(was[kind], is[kind], kind))) return false;
  return Kinds.some((kind) => was[kind] !== undefined && is[kind] !== undefined) ? true : undefined;
}

/** A quick read tells the GUID alone: what was read before belongs to it only where that is the same. */
function withKnown(seen: DeviceFacts, known: DeviceFacts | undefined): DeviceFacts {
  if (known === undefined || Kinds.some((kind) => differ(known[kind], seen[kind], kind))) return seen;
  return { ...known, ...seen };
}
