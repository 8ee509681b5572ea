import type { ClaimRecord, Reservations } from '#contracts';

/** The claim holds its nodes. Who calls has made sure that none of them is held, other than by a periodic check: that goes on. */
export function takeClaim(r: Reservations, claim: ClaimRecord): Reservations {
  const generation = r.generation + 1;
  const holds = claim.nodes.map((n) => [n, { ...r.held[n], claim: claim.id, generation, at: claim.at }]);
  return {
    ...r,
    generation,
    held: { ...r.held, ...Object.fromEntries(holds) },
    claims: { ...r.claims, [claim.id]: claim },
  };
}

/** Its nodes are free, but for those that a job of the system works on, or an edit; undefined: there is no such claim. */
export function dropClaim(r: Reservations, id: string): Reservations | undefined {
  if (r.claims?.[id] === undefined) return undefined;
  const { [id]: _dropped, ...claims } = r.claims;
  const held: Reservations['held'] = {};
  for (const [node, hold] of Object.entries(r.held)) {
    const { claim, ...rest } = hold;
    if (claim !== id) held[node] = hold;
    else if (rest.job !== undefined || rest.edit !== undefined) held[node] = rest;
  }
  return { ...r, held, claims };
}

/** It was looked at again, and counts; undefined: it is gone. */
export function confirmClaim(r: Reservations, id: string): { next: Reservations; claim: ClaimRecord } | undefined {
  const now = r.claims?.[id];
  if (now === undefined) return undefined;
  const { pending: _looked, ...claim } = now;
  return { next: { ...r, claims: { ...r.claims, [id]: claim } }, claim };
}

/** Whoever took it has answered, or is gone, by then, ms: no caller waits for so long. */
export const PENDING_MS = 30_000;

/** At the time of day that came of its `ttl`, which the caller was told. */
export const hasExpired = (c: Pick<ClaimRecord, 'expiresAt'>, wallMs: number): boolean =>
  c.expiresAt !== undefined && c.expiresAt <= wallMs;

/** It was never confirmed, and nobody can be about to. `pendingMs`: for which it has been so, on the asker's own clock. */
export const isAbandoned = (c: Pick<ClaimRecord, 'pending'>, pendingMs: number): boolean =>
  c.pending === true && pendingMs >= PENDING_MS;
