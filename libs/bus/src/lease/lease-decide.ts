/** Value of one key of bucket `leases`. */
export interface LeaseRecord {
  /** Instance that holds it; empty: released, free at once. */
  holder: string;
  /** Fencing token as far as it was known before the write; the write's own revision may raise it. */
  token: number;
  /** `<process>.<n>`, new with every write: an acknowledgement that was lost is found again by it. */
  nonce: string;
  ttlMs: number;
}

/** One write whose outcome is not known (yet). */
export interface LeaseAttempt {
  kind: 'acquire' | 'renew';
  record: LeaseRecord;
  /** Revision that the write rests on; 0: the key did not exist. */
  basis: number;
  /** Clock at the moment before it was sent: validity counts from here, never from the acknowledgement. */
  sentNs: bigint;
}

/** A time of holding the lease without a gap. */
export interface LeaseTerm {
  token: number;
  revision: number;
  sentNs: bigint;
}

export interface LeaseState {
  holder: string;
  /** Random name of this process's contender: a record whose nonce begins with it is its own writing. */
  process: string;
  ttlMs: number;
  /** The key as last seen, and since when this revision is known here. Absent: never read. */
  seen?: {
    revision: number;
    record?: LeaseRecord;
    sinceNs: bigint;
    unreadable?: true;
    /** The key went away while somebody held it: who that was may believe in it until then. */
    freeNs?: bigint;
  };
  /** The records that the lease guards are asked for their highest token before it is acquired. */
  guards: boolean;
  /** What they said, of the seen revision. Absent: not asked yet. */
  floor?: number;
  /** Not to be read again before. */
  nextReadNs: bigint;
  term?: LeaseTerm;
  /** Writes on the seen revision that may have been applied, or may yet be. */
  attempts: LeaseAttempt[];
  /** A write's fate is unknown, or the last read went unanswered: the key is read before anything is written. */
  doubt: boolean;
  /** One write is on its way and is waited for. */
  writing: boolean;
  /** Highest token ever known here, also of others. */
  highest: number;
  counter: number;
}

export type LeaseAction =
  | { do: 'read' }
  | { do: 'write'; attempt: LeaseAttempt }
  /** The records that it guards are to be asked for their highest token. */
  | { do: 'ask-floor' }
  /** The term is over by the clock: say so, then contend. */
  | { do: 'lapse' }
  | { do: 'wait'; untilNs: bigint };

const ns = (ms: number): bigint => BigInt(Math.round(ms * 1e6));
/** A term ends this part of ttl after its last acknowledged renewal was sent: 15 % are left for clocks that differ. */
const VALID = 0.85;
/** A contender waits this part of ttl without a new revision, by its own clock. */
const TAKEOVER = 1.25;
const RENEW = 1 / 3;

/** How often a contender looks, ms: a released lease is taken within this. */
const readPeriod = (ttlMs: number): number => Math.min(500, ttlMs / 10);

export const initialLease = (holder: string, process: string, ttlMs: number, guards = false): LeaseState => ({
  guards,
  holder,
  process,
  ttlMs,
  nextReadNs: 0n,
  attempts: [],
  doubt: false,
  writing: false,
  highest: 0,
  counter: 0,
});

/** End of validity; 0 where nothing is held. */
export const validUntil = (s: LeaseState): bigint => (s.term === undefined ? 0n : s.term.sentNs + ns(s.ttlMs * VALID));

export const isHeld = (s: LeaseState, now: bigint): boolean => now < validUntil(s);

const isOwn = (s: LeaseState, r: LeaseRecord): boolean => r.nonce.startsWith(`${s.process}.`);

/**
 * For how long a holder whose record was overwritten with what nobody can read may still believe in its term, ms: the
 * longest time to live that leases are given by default.
 */
const UNREADABLE_TTL_MS = 14_000;

/**
 * So long, ns, somebody may be at work who holds by one of these records; `undefined` is one that nobody can read. Without
 * any: who holds by what was never seen.
 */
const outlasts = (s: LeaseState, ...records: readonly (LeaseRecord | undefined)[]): bigint =>
  ns(Math.max(s.ttlMs, ...records.map((r) => r?.ttlMs ?? UNREADABLE_TTL_MS)) * TAKEOVER);

/** May the key be written by a contender, as of now? Nobody else's term can then still be valid. */
function takeoverAt(s: LeaseState, seen: NonNullable<LeaseState['seen']>): bigint {
  if (seen.freeNs !== undefined) return seen.freeNs;
  // A key that is not there, although records tell of holders: it was taken away, maybe from under one.
  if (seen.revision === 0 && (s.floor ?? 0) > 0) return seen.sinceNs + outlasts(s);
  if (seen.unreadable) return seen.sinceNs + outlasts(s, undefined);
  const r = seen.record;
  if (r === undefined || r.holder === '' || isOwn(s, r)) return 0n;
  return seen.sinceNs + outlasts(s, r);
}

/** What to do next. Pure: the clock comes in. */
export function decideLease(s: LeaseState, now: bigint): LeaseAction {
  if (s.term !== undefined && !isHeld(s, now)) return { do: 'lapse' };
  if (s.term !== undefined) {
    const due = s.term.sentNs + ns(s.ttlMs * RENEW);
    if (s.writing) return { do: 'wait', untilNs: validUntil(s) };
    if (s.doubt) return now >= s.nextReadNs ? { do: 'read' } : { do: 'wait', untilNs: s.nextReadNs };
    if (now < due) return { do: 'wait', untilNs: due };
    return { do: 'write', attempt: attempt(s, 'renew', s.term.revision, s.term.token, now) };
  }
  if (s.writing) return { do: 'wait', untilNs: now + ns(readPeriod(s.ttlMs)) };
  if (s.seen === undefined || now >= s.nextReadNs) return { do: 'read' };
  const from = takeoverAt(s, s.seen);
  if (s.doubt) return { do: 'wait', untilNs: s.nextReadNs };
  if (now < from) return { do: 'wait', untilNs: from < s.nextReadNs ? from : s.nextReadNs };
  if (s.guards && s.floor === undefined) return { do: 'ask-floor' };
  const token = Math.max(s.highest, s.seen.revision, s.seen.record?.token ?? 0) + 1;
  return { do: 'write', attempt: attempt(s, 'acquire', s.seen.revision, token, now) };
}

const attempt = (
  s: LeaseState,
  kind: LeaseAttempt['kind'],
  basis: number,
  token: number,
  sentNs: bigint,
): LeaseAttempt => ({
  kind,
  basis,
  sentNs,
  record: { holder: s.holder, token, nonce: `${s.process}.${s.counter + 1}`, ttlMs: s.ttlMs },
});

export const sending = (s: LeaseState, a: LeaseAttempt): LeaseState => ({
  ...s,
  counter: s.counter + 1,
  writing: true,
  attempts: [...s.attempts, a],
});

/** A write was acknowledged with its revision, or found to have been carried out. */
export function written(s: LeaseState, a: LeaseAttempt, revision: number): LeaseState {
  if (!s.attempts.includes(a)) return s;
  const renews = a.kind === 'renew' && s.term !== undefined && s.term.revision === a.basis;
  // A renewal that is acknowledged after its term has ended prolongs nothing: the next term has a token of its own.
  const term: LeaseTerm | undefined =
    a.kind === 'acquire'
      ? { token: Math.max(a.record.token, revision), revision, sentNs: a.sentNs }
      : renews && s.term !== undefined
        ? { token: s.term.token, revision, sentNs: a.sentNs }
        : undefined;
  const { term: _ended, floor: _asked, ...rest } = s;
  return {
    ...rest,
    ...(term === undefined ? {} : { term }),
    writing: false,
    doubt: false,
    attempts: [],
    seen: { revision, record: a.record, sinceNs: a.sentNs },
    highest: Math.max(s.highest, a.record.token, revision),
  };
}

/** A write was refused: somebody else wrote, or an own earlier write of unknown fate was applied. The read tells. */
export const refused = (s: LeaseState, a: LeaseAttempt): LeaseState => ({
  ...s,
  writing: false,
  doubt: true,
  attempts: s.attempts.filter((x) => x !== a),
  nextReadNs: 0n,
});

/** No answer in time: the write may yet be applied. */
export const unanswered = (s: LeaseState): LeaseState => ({
  ...s,
  writing: false,
  doubt: true,
  nextReadNs: 0n,
});

/** A key that exists. Without a value: what stands there cannot be read, so nobody knows who holds it. */
export interface SeenLease {
  revision: number;
  value?: LeaseRecord;
}

/** The key was read (`undefined`: it does not exist). */
export function read(s: LeaseState, entry: SeenLease | undefined, now: bigint): LeaseState {
  const nextReadNs = now + ns(readPeriod(s.ttlMs));
  const revision = entry?.revision ?? 0;
  // The write that took it may have raised the token to its revision.
  const highest = Math.max(s.highest, entry?.value?.token ?? 0, revision);
  const found = s.attempts.find((a) => a.record.nonce === entry?.value?.nonce);
  if (found !== undefined) return { ...written(s, found, revision), nextReadNs };

  // Writes on an older revision can no longer be applied; those on this one may yet be, and may be repeated.
  const attempts = s.attempts.filter((a) => a.basis === revision);
  const same = s.seen !== undefined && isSameWrite(s.seen, revision, entry?.value);
  const seen = same ? s.seen : entry === undefined ? gone(s, now) : seenNow(s, entry, now);
  const { floor, ...others } = s;
  const kept: LeaseState = { ...others, nextReadNs, highest, attempts, doubt: false, ...(seen && { seen }) };
  if (same && floor !== undefined) kept.floor = floor;
  if (s.term === undefined || same) return kept;
  const { term: _lost, ...rest } = kept;
  return rest;
}

/**
 * Another write than the one that was known. At a revision that is not above that, a server has lost its last writes, or
 * the bucket was made anew: what stands there says nothing of who holds it, and whoever wrote what is lost may still be
 * at work. Who holds it by its own clock, and finds its own record or a free one, takes it back at once.
 */
function seenNow(s: LeaseState, entry: SeenLease, now: bigint): NonNullable<LeaseState['seen']> {
  const seen = { revision: entry.revision, sinceNs: now, ...recordOf(entry) };
  const before = s.seen;
  if (before === undefined || entry.revision > before.revision) return seen;
  const { record } = seen;
  if (isHeld(s, now) && record !== undefined && (record.holder === '' || isOwn(s, record)))
    return { ...seen, freeNs: now };
  return { ...seen, freeNs: now + outlasts(s, before.record, record) };
}

/**
 * Nobody has written since. The revision alone does not say so: it counts from the start again in a bucket that was
 * made anew, or that lost its last writes, and one who did not look meanwhile finds the old number of a newer write.
 */
const isSameWrite = (seen: NonNullable<LeaseState['seen']>, revision: number, found?: LeaseRecord): boolean =>
  seen.revision === revision && seen.record?.nonce === found?.nonce;

/**
 * The key is not there any more: its bucket was deleted, or made anew. Whoever holds it by its own clock makes it again
 * at once; for all others a holder may still be at work.
 */
function gone(s: LeaseState, now: bigint): NonNullable<LeaseState['seen']> {
  const before = s.seen;
  const wasFree = before === undefined || before.revision === 0 || before.record?.holder === '';
  if (wasFree) return { revision: 0, sinceNs: now };
  if (isHeld(s, now)) return { revision: 0, sinceNs: now, freeNs: now };
  return { revision: 0, sinceNs: now, freeNs: now + outlasts(s, before.record) };
}

/** What the guarded records hold: the next token is above it. */
export const floorKnown = (s: LeaseState, floor: number): LeaseState => ({
  ...s,
  floor,
  highest: Math.max(s.highest, floor),
});

/** A record was met with a token that is not below the own one: the term goes on under a higher one. */
export function surpassed(s: LeaseState, token: number): LeaseState {
  const { term: _low, floor: _asked, ...rest } = s;
  return { ...rest, highest: Math.max(s.highest, token), nextReadNs: 0n };
}

const recordOf = (entry: SeenLease | undefined): { record?: LeaseRecord; unreadable?: true } =>
  entry === undefined ? {} : entry.value === undefined ? { unreadable: true } : { record: entry.value };

/**
 * The read failed or was not answered. What was seen before is no basis for a write: in a bucket that was made anew
 * meanwhile, the same revision may be of another's newer write.
 */
export const unread = (s: LeaseState, now: bigint): LeaseState => ({
  ...s,
  doubt: true,
  nextReadNs: now + ns(readPeriod(s.ttlMs)),
});

/** The term is over by the clock. */
export function lapse(s: LeaseState): LeaseState {
  const { term: _over, ...rest } = s;
  return { ...rest, nextReadNs: 0n };
}
