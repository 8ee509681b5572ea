import { describe, expect, it } from 'vitest';
import { RESERVATIONS_KEY, type ClaimRecord } from '#contracts';
import { PENDING_MS } from '#domain/claim/claim-holds.js';
import { ageMs } from '../../snapshot/ages.js';
import { fleetOf } from '../../testing/investigation.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { claimExpiry } from './claim-expiry.js';

describe('a claim', () => {
  const claim: ClaimRecord = { id: 'c', owner: 'nomad', nodes: ['n-1'], by: 'ann', at: 1_000 };
  /** @param waitedMs how long the conductor has seen it unconfirmed */
  function world(o: Partial<ClaimRecord>, wallMs: number, waitedMs = 0) {
    const store = new MemoryStore();
    const claims = { c: { ...claim, ...o } };
    store.reservations.set(RESERVATIONS_KEY, { held: {}, pending: {}, claims, generation: 0 });
    const fleet = { ...fleetOf(store), wallMs };
    const holds = [...(claimExpiry.conditions?.(fleet, { of: () => ageMs(0) }).holds ?? [])];
    const ages = { of: (c: string) => ageMs(holds.includes(c as never) ? waitedMs : 0) };
    return { holds, intents: claimExpiry.plan(fleet, ages) };
  }
  const ends = (...args: Parameters<typeof world>): number => world(...args).intents.length;

  it('ends at its time of day', () => {
    expect(ends({ expiresAt: 5_000 }, 4_999)).toBe(0);
    expect(ends({ expiresAt: 5_000 }, 5_000)).toBe(1);
    expect(ends({}, 1e15)).toBe(0);
  });

  it('that nobody has confirmed ends after a while, whatever the time of day is', () => {
    for (const wallMs of [0, claim.at, 1e15]) {
      expect(ends({ pending: true }, wallMs, PENDING_MS - 1)).toBe(0);
      expect(ends({ pending: true }, wallMs, PENDING_MS)).toBe(1);
    }
  });

  it('that is confirmed meanwhile stays', () => {
    expect(ends({}, claim.at, PENDING_MS)).toBe(0);
    const [intent] = world({ pending: true }, claim.at, PENDING_MS).intents;
    expect(intent).toMatchObject({ do: 'expire-claim', key: 'c', reason: 'Whoever took it never confirmed it.' });
    const isOver = (now: ClaimRecord): boolean => intent?.do === 'expire-claim' && intent.decide(now, {} as never);
    expect([isOver({ ...claim, pending: true }), isOver(claim)]).toEqual([true, false]);
  });
});
