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

/**
 * Its nodes were read again, and it counts; undefined: it is gone, or a request with the same key has taken others since,
 * which this one has not read.
 */
export function confirmClaim(
  r: Reservations,
  { id, nodes }: Pick<ClaimRecord, 'id' | 'nodes'>,
): { next: Reservations; claim: ClaimRecord } | undefined {
  const now = r.claims?.[id];
  if (now === undefined || now.nodes.join() !== nodes.join()) return undefined;
  const { pending: _read, ...claim } = now;
  return { next: { ...r, claims: { ...r.claims, [id]: claim } }, claim };
}

/**
 * What takes its place where it could not be confirmed: nothing; or it stands, since another request with the same key has
 * confirmed it, and its caller may use the nodes already.
 */
export function giveUpClaim(r: Reservations, id: string): { next?: Reservations | undefined; stands?: ClaimRecord } {
  const now = r.claims?.[id];
  return now !== undefined && now.pending !== true ? { stands: now } : { next: dropClaim(r, id) };
}

/** Whoever took it has answered, or is gone, by then, ms: no caller waits for so long. */
export const PENDING_MS = 30_000;

/** At the time of day that came of its `ttl`, which the caller was told. */
export const hasExpired = (c: Pick<ClaimRecord, 'expiresAt'>, wallMs: number): boolean =>
  c.expiresAt !== undefined && c.expiresAt <= wallMs;

/** It was never confirmed, and nobody can be about to. `pendingMs`: for which it has been so, on the asker's own clock. */
export const isAbandoned = (c: Pick<ClaimRecord, 'pending'>, pendingMs: number): boolean =>
  c.pending === true && pendingMs >= PENDING_MS;
