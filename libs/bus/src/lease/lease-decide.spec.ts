import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { runs, seeded } from '#contracts/testing/chance.js';
import {
  decideLease,
  floorKnown,
  initialLease,
  isHeld,
  lapse,
  read,
  refused,
  sending,
  surpassed,
  unanswered,
  unread,
  validUntil,
  written,
  type LeaseAttempt,
  type LeaseRecord,
  type LeaseState,
} from './lease-decide.js';

const ms = (n: number): bigint => BigInt(Math.round(n * 1e6));
const TTL = 1000;

/** Takes the state through one acknowledged acquisition of a key that does not exist, at `now`. */
function acquired(now = ms(0)): LeaseState {
  const s = read(initialLease('a', 'pa', TTL), undefined, now);
  const action = decideLease(s, now);
  if (action.do !== 'write') throw new Error(`expected a write, got ${action.do}`);
  return written(sending(s, action.attempt), action.attempt, 1);
}

describe('lease, decided', () => {
  it('looks before it writes, and takes a key that does not exist', () => {
    const s = initialLease('a', 'pa', TTL);
    expect(decideLease(s, ms(0))).toEqual({ do: 'read' });
    expect(isHeld(acquired(), ms(849))).toBe(true);
    expect(isHeld(acquired(), ms(850))).toBe(false);
  });

  it('counts validity from the sending, not from the acknowledgement', () => {
    const s = read(initialLease('a', 'pa', TTL), undefined, ms(0));
    const action = decideLease(s, ms(0));
    if (action.do !== 'write') throw new Error('no write');
    const held = written(sending(s, action.attempt), action.attempt, 1);
    expect(validUntil(held)).toBe(ms(850));
  });

  it('leaves another’s lease alone until it saw no new revision for ttl × 1.25', () => {
    const other: LeaseRecord = { holder: 'b', token: 7, nonce: 'pb.1', ttlMs: TTL };
    let s = read(initialLease('a', 'pa', TTL), { revision: 9, value: other }, ms(0));
    s = read(s, { revision: 9, value: other }, ms(1249));
    expect(decideLease(s, ms(1249)).do).toBe('wait');
    s = read(s, { revision: 10, value: other }, ms(1249.5));
    expect(decideLease(s, ms(1300)).do).toBe('wait');
    s = read(s, { revision: 10, value: other }, ms(2500));
    expect(decideLease(s, ms(2500))).toMatchObject({ do: 'write', attempt: { basis: 10, record: { token: 11 } } });
  });

  it('waits by the ttl of the holder where that is longer than its own', () => {
    const value: LeaseRecord = { holder: 'b', token: 7, nonce: 'pb.1', ttlMs: 3 * TTL };
    let s = read(initialLease('a', 'pa', TTL), { revision: 9, value }, ms(0));
    s = read(s, { revision: 9, value }, ms(3749));
    expect(decideLease(s, ms(3749)).do).toBe('wait');
    s = read(s, { revision: 9, value }, ms(3750));
    expect(decideLease(s, ms(3750)).do).toBe('write');
  });

  it('takes a released lease at once, with a higher token', () => {
    const free: LeaseRecord = { holder: '', token: 70, nonce: 'pb.1', ttlMs: TTL };
    const s = read(initialLease('a', 'pa', TTL), { revision: 9, value: free }, ms(0));
    expect(decideLease(s, ms(0))).toMatchObject({ do: 'write', attempt: { record: { token: 71 } } });
  });

  it('adopts a renewal whose acknowledgement was lost, from its sending time', () => {
    let s = acquired();
    const action = decideLease(s, ms(340));
    if (action.do !== 'write') throw new Error('no renewal');
    s = unanswered(sending(s, action.attempt));
    expect(decideLease(s, ms(700))).toEqual({ do: 'read' });
    s = read(s, { revision: 2, value: action.attempt.record }, ms(700));
    expect(s.term).toEqual({ token: 1, revision: 2, sentNs: ms(340) });
    expect(isHeld(s, ms(1189))).toBe(true);
  });

  it('adopts an older lost write that was applied late, also when a newer one was refused', () => {
    let s = acquired();
    const first = decideLease(s, ms(340));
    if (first.do !== 'write') throw new Error('no renewal');
    s = unanswered(sending(s, first.attempt));
    const seen = s.seen?.record;
    if (seen === undefined) throw new Error('nothing seen');
    s = read(s, { revision: 1, value: seen }, ms(500));
    const second = decideLease(s, ms(500));
    if (second.do !== 'write') throw new Error('no second try');
    s = refused(sending(s, second.attempt), second.attempt);
    s = read(s, { revision: 2, value: first.attempt.record }, ms(600));
    expect(s.term).toEqual({ token: 1, revision: 2, sentNs: ms(340) });
  });

  it('gives up at once when somebody else wrote', () => {
    const s = read(acquired(), { revision: 2, value: { holder: 'b', token: 2, nonce: 'pb.1', ttlMs: TTL } }, ms(100));
    expect(isHeld(s, ms(100))).toBe(false);
  });

  it('takes its own lapsed lease back without waiting, as a new term', () => {
    let s = acquired();
    expect(decideLease(s, ms(900))).toEqual({ do: 'lapse' });
    s = lapse(s);
    const own = s.seen?.record;
    if (own === undefined) throw new Error('nothing seen');
    s = read(s, { revision: 1, value: own }, ms(900));
    expect(decideLease(s, ms(900))).toMatchObject({ do: 'write', attempt: { kind: 'acquire', record: { token: 2 } } });
  });

  it('leaves alone what another has written in a bucket that was made anew, also at the revision that it knew', () => {
    const before: LeaseRecord = { holder: 'b', token: 9, nonce: 'pb.4', ttlMs: TTL };
    let s = read(initialLease('a', 'pa', TTL), { revision: 9, value: before }, ms(0));
    // It was cut off for as long as a takeover waits.
    s = read(s, { revision: 9, value: { ...before, token: 10, nonce: 'pb.12' } }, ms(5_000));
    expect(decideLease(s, ms(5_000)).do).toBe('wait');
    expect(decideLease(read(s, { revision: 9, value: { ...before, nonce: 'pb.12' } }, ms(6_250)), ms(6_250)).do).toBe(
      'write',
    );
  });

  it('has lost its term where another stands at its own revision, in a bucket that was made anew', () => {
    const s = read(acquired(), { revision: 1, value: { holder: 'b', token: 2, nonce: 'pb.1', ttlMs: TTL } }, ms(100));
    expect(isHeld(s, ms(100))).toBe(false);
  });

  it.each([
    ['released', { holder: '', token: 3, nonce: 'pc.1', ttlMs: TTL }],
    ['its own', { holder: 'a', token: 3, nonce: 'pa.7', ttlMs: TTL }],
  ] as const)(
    'waits for whoever wrote what a server has lost, although the key is %s as it was before',
    (_what, old) => {
      const lost: LeaseRecord = { holder: 'b', token: 12, nonce: 'pb.4', ttlMs: 2 * TTL };
      let s = read(initialLease('a', 'pa', TTL), { revision: 12, value: lost }, ms(0));
      s = read(s, { revision: 7, value: old }, ms(100));
      expect(decideLease(s, ms(100)).do).toBe('wait');
      s = read(s, { revision: 7, value: old }, ms(2_599));
      expect(decideLease(s, ms(2_599)).do).toBe('wait');
      s = read(s, { revision: 7, value: old }, ms(2_600));
      expect(decideLease(s, ms(2_600))).toMatchObject({ do: 'write', attempt: { basis: 7, record: { token: 13 } } });
    },
  );

  it('takes back at once what it holds itself, and a server has lost', () => {
    const s = acquired();
    const renewal = decideLease(s, ms(400));
    if (renewal.do !== 'write') throw new Error('no renewal');
    const first = s.seen?.record;
    if (first === undefined) throw new Error('nothing seen');
    const renewed = written(sending(s, renewal.attempt), renewal.attempt, 2);
    const back = read(renewed, { revision: 1, value: first }, ms(500));
    expect(decideLease(back, ms(500))).toMatchObject({ do: 'write', attempt: { basis: 1, record: { token: 3 } } });
  });

  it('has at most one holder at any instant, and tokens that only grow, whatever is late, lost, paused or drifts', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 2, max: 5 }), (seed, contenders) => {
        const outcome = simulate(seed, contenders, 60_000);
        expect(outcome.violations).toEqual([]);
        // A history in which nobody ever holds would prove nothing.
        expect(outcome.terms).toBeGreaterThan(3);
      }),
      { numRuns: runs(150) },
    );
  });
});

/** One server and several contenders in virtual time: every message is late, some are lost, processes pause. */
function simulate(seed: number, contenders: number, lengthMs: number): { violations: string[]; terms: number } {
  const random = seeded(seed);
  const violations: string[] = [];
  let terms = 0;
  let highest = 0;
  let now = 0;
  let revision = 0;
  let record: LeaseRecord | undefined;
  let queue: { at: number; run: () => void }[] = [];
  const at = (delay: number, run: () => void): void => void queue.push({ at: now + delay, run });

  const clients = Array.from({ length: contenders }, (_, i) => {
    // Clocks differ in zero and in rate, by up to 10 %: more than any crystal.
    const rate = 0.9 + random() * 0.2;
    const zero = random() * 1e6;
    return { state: initialLease(`h${i}`, `p${i}`, TTL), clock: () => ms(zero + now * rate), pausedUntil: 0, told: 0 };
  });
  type Client = (typeof clients)[number];
  /** A paused process handles nothing; what arrived meanwhile is handled when it wakes. */
  const deliver = (c: Client, delay: number, run: () => void): void =>
    at(delay, () => (c.pausedUntil > now ? deliver(c, c.pausedUntil - now + random(), run) : run()));
  const latency = (): number => (random() < 0.05 ? random() * 3000 : random() * 20);

  function request<A>(c: Client, serve: () => A, answered: (a: A) => void, silent: () => void): void {
    let settled = false;
    const once = (run: () => void) => (): void => {
      if (settled) return;
      settled = true;
      run();
    };
    if (random() > 0.03)
      at(latency(), () => {
        const answer = serve();
        // Late answers count: they are settled after `silent` has been told.
        if (random() > 0.05)
          deliver(c, latency(), () => {
            settled = true;
            answered(answer);
          });
      });
    deliver(c, 200, once(silent));
  }

  function write(c: Client, a: LeaseAttempt): void {
    c.state = sending(c.state, a);
    request(
      c,
      () => {
        if (revision !== a.basis) return undefined;
        record = a.record;
        return ++revision;
      },
      (done) => {
        c.state = done === undefined ? refused(c.state, a) : written(c.state, a, done);
      },
      () => {
        c.state = unanswered(c.state);
      },
    );
  }

  let reading = new Set<Client>();
  function step(c: Client): void {
    if (c.pausedUntil <= now && !reading.has(c)) {
      const action = decideLease(c.state, c.clock());
      if (action.do === 'lapse') c.state = lapse(c.state);
      else if (action.do === 'write') write(c, action.attempt);
      else if (action.do === 'read') {
        reading.add(c);
        request(
          c,
          () => (record === undefined ? undefined : { revision, value: record }),
          (entry) => {
            reading.delete(c);
            c.state = read(c.state, entry, c.clock());
          },
          () => {
            reading.delete(c);
            c.state = unread(c.state, c.clock());
          },
        );
      }
    }
    if (random() < 0.002) c.pausedUntil = now + random() * 5 * TTL;
  }

  while (now < lengthMs) {
    for (const c of clients) step(c);
    now += 5;
    const due = queue.filter((e) => e.at <= now).sort((x, y) => x.at - y.at);
    queue = queue.filter((e) => e.at > now);
    for (const e of due) {
      e.run();
      const holders = clients.filter((c) => isHeld(c.state, c.clock()));
      if (holders.length > 1) violations.push(`${now}: ${holders.map((h) => h.state.holder).join(' and ')} hold it`);
      for (const c of holders) {
        const token = c.state.term?.token ?? 0;
        if (token === c.told) continue;
        if (token <= highest) violations.push(`${now}: token ${token} after ${highest}`);
        c.told = token;
        highest = Math.max(highest, token);
        terms++;
      }
    }
  }
  return { violations, terms };
}

describe('a lease that guards records, decided', () => {
  const other: LeaseRecord = { holder: 'b', token: 7, nonce: 'pb.1', ttlMs: TTL };

  it('asks them for their highest token before it is acquired, and gets one above it', () => {
    const s = read(initialLease('a', 'pa', TTL, true), { revision: 3, value: { ...other, holder: '' } }, ms(0));
    expect(decideLease(s, ms(0))).toEqual({ do: 'ask-floor' });
    const action = decideLease(floorKnown(s, 40), ms(0));
    expect(action).toMatchObject({ do: 'write', attempt: { basis: 3, record: { token: 41 } } });
  });

  it('asks again for each revision that it contends on', () => {
    let s = read(initialLease('a', 'pa', TTL, true), { revision: 3, value: { ...other, holder: '' } }, ms(0));
    s = read(floorKnown(s, 40), { revision: 4, value: { ...other, holder: '' } }, ms(1));
    expect(decideLease(s, ms(1))).toEqual({ do: 'ask-floor' });
  });

  it('waits where its key is not there although records tell of holders: one may still be at work', () => {
    const s = floorKnown(read(initialLease('a', 'pa', TTL, true), undefined, ms(0)), 7);
    expect(decideLease(s, ms(10)).do).toBe('wait');
    const later = read(s, undefined, ms(1250));
    expect(decideLease(later, ms(1250))).toMatchObject({ do: 'write', attempt: { basis: 0, record: { token: 8 } } });
    const fresh = floorKnown(read(initialLease('a', 'pa', TTL, true), undefined, ms(0)), 0);
    expect(decideLease(fresh, ms(0)).do).toBe('write');
  });

  it('waits for the holder whose key has vanished, and the holder itself does not', () => {
    let s = read(initialLease('a', 'pa', TTL), { revision: 9, value: other }, ms(0));
    s = read(s, undefined, ms(100));
    s = read(s, undefined, ms(1300));
    expect(decideLease(s, ms(1349)).do).toBe('wait');
    expect(decideLease(s, ms(1350))).toMatchObject({ do: 'write', attempt: { basis: 0, record: { token: 10 } } });
    const own = read(acquired(), undefined, ms(100));
    expect(decideLease(own, ms(100))).toMatchObject({
      do: 'write',
      attempt: { kind: 'acquire', record: { token: 2 } },
    });
  });

  it('knows another write by its nonce where the revision is the one that it saw before', () => {
    // Its reads went unanswered while the bucket was made anew, and the holder wrote as often as before.
    let s = read(initialLease('a', 'pa', TTL, true), { revision: 15, value: { ...other, nonce: 'pb.6' } }, ms(0));
    s = floorKnown(s, 7);
    s = read(unread(s, ms(100)), { revision: 15, value: { ...other, token: 18, nonce: 'pb.16' } }, ms(10_000));
    expect(decideLease(s, ms(10_000)).do).toBe('wait');
    s = read(s, { revision: 15, value: { ...other, token: 18, nonce: 'pb.16' } }, ms(11_250));
    expect(decideLease(s, ms(11_250))).toEqual({ do: 'ask-floor' });
    // Nor is a holder one any more where another wrote under its revision.
    const holder = read(acquired(), { revision: 1, value: other }, ms(10));
    expect(isHeld(holder, ms(10))).toBe(false);
  });

  it('takes nothing over by what it saw before its reads went unanswered', () => {
    const seen = { revision: 9, value: other };
    let s = floorKnown(read(initialLease('a', 'pa', TTL, true), seen, ms(0)), 7);
    s = unread(s, ms(1240));
    expect(decideLease(s, ms(1260)).do).toBe('wait');
    expect(decideLease(s, ms(1340)).do).toBe('read');
    s = read(s, seen, ms(1340));
    expect(decideLease(s, ms(1340)).do).toBe('write');
  });

  it('does not take its own earlier term for the last one when the key has vanished', () => {
    // It stood still beyond its term: another may have had the lease meanwhile.
    const s = read(read(lapse(acquired()), undefined, ms(5000)), undefined, ms(6200));
    expect(decideLease(s, ms(6249)).do).toBe('wait');
    expect(decideLease(read(s, undefined, ms(6250)), ms(6250)).do).toBe('write');
  });

  it('goes on under a higher token when records are met that hold one above its own', () => {
    const s = surpassed(acquired(), 90);
    expect(isHeld(s, ms(1))).toBe(false);
    const seen = read(s, { revision: 1, value: { holder: 'a', token: 1, nonce: 'pa.1', ttlMs: TTL } }, ms(1));
    expect(decideLease(seen, ms(1))).toMatchObject({ do: 'write', attempt: { basis: 1, record: { token: 91 } } });
  });

  it('has no holder that is known while its record cannot be read', () => {
    let s = read(initialLease('a', 'pa', TTL), { revision: 9 }, ms(0));
    s = read(s, { revision: 9 }, ms(17_450));
    expect(decideLease(s, ms(17_499)).do).toBe('wait');
    expect(decideLease(s, ms(17_500))).toMatchObject({ do: 'write', attempt: { basis: 9, record: { token: 10 } } });
    const holder = read(acquired(), { revision: 5 }, ms(10));
    expect(isHeld(holder, ms(10))).toBe(false);
  });
});
