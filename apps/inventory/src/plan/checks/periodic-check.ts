import { nameHash, type Hold, type NodeRecord, type OutReason } from '#contracts';
import { retryDelayMs, type RetryPolicy } from '#domain/retry/retry-policy.js';
import { isReachable } from '#domain/verdict/heard.js';

/** Checks of nodes in service that run at once: a provisioner has room for returns and operators beside them. */
export const PERIODIC_AT_ONCE = 2;
/** After a check that could not be carried out: at most the period. */
const RETRY: RetryPolicy = { firstMs: 60_000, growth: 2 };

/** A node in service, as the choice sees it. Times are of the wall clock, ms: they stand in records. */
export interface WatchedNode {
  name: string;
  /** When it was last checked, or set up; absent: not known. */
  last?: number | undefined;
  /** Checks in a row that could not be carried out. */
  failed: number;
}

/** What may be begun now. */
export interface Pace {
  /** ms; 0: never. */
  every: number;
  now: number;
  /** Checks of this kind that have not ended. */
  running: number;
  /** When the last of them was begun; absent: not known. */
  begun?: number | undefined;
}

/**
 * The node's own moment in each period, by its name: the last one up to `at`. Names spread evenly over the period, and
 * whoever computes it gets the same.
 */
export function slotOf(name: string, every: number, at: number): number {
  const offset = Math.floor((nameHash(name) / 2 ** 32) * every);
  return Math.floor((at - offset) / every) * every + offset;
}

/** Since when a check is due; undefined: it is not. A last one that is yet to come was dated by another clock. */
export function dueSince(n: WatchedNode, every: number, now: number): number | undefined {
  if (n.last === undefined || n.last > now) return 0;
  const slot = slotOf(n.name, every, n.last) + every;
  const retry = n.failed === 0 ? slot : n.last + retryDelayMs({ ...RETRY, mostMs: every }, n.failed);
  const since = Math.min(slot, retry);
  return since <= now ? since : undefined;
}

/**
 * The nodes whose check begins now, the longest due first. Never more than {@link PERIODIC_AT_ONCE} at once, and never
 * quicker one after the other than twice as quick as the period needs: where all are due, as after it was switched on
 * or after a long storm, they are spread over half a period.
 */
export function checksToBegin(nodes: readonly WatchedNode[], p: Pace): string[] {
  if (p.every <= 0 || nodes.length === 0) return [];
  const gap = p.every / (2 * nodes.length);
  const waited = p.begun === undefined || p.begun > p.now ? gap : p.now - p.begun;
  const free = Math.min(PERIODIC_AT_ONCE - p.running, Math.floor(waited / gap));
  if (free <= 0) return [];
  return nodes
    .flatMap((n) => {
      const since = dueSince(n, p.every, p.now);
      return since === undefined ? [] : [{ name: n.name, since }];
    })
    .sort((a, b) => a.since - b.since || (a.name < b.name ? -1 : 1))
    .slice(0, free)
    .map((n) => n.name);
}

/** Nothing is begun, and what runs is called off, while any node is unhealthy: hands are needed, and evidence is thin. */
export interface FleetState {
  /** A storm stands. */
  storm: boolean;
  /** An incident is being dealt with: one that waits for an operator, or is recovered from, hinders nobody. */
  incident: boolean;
  /** No detector that sees the fleet is heard, or the records are not followed. */
  withoutQuorum: boolean;
}

export const isCalm = (f: FleetState): boolean => !f.storm && !f.incident && !f.withoutQuorum;

/**
 * In service, and nobody is at work on it. A claim is no work: what a scheduler holds serves as well.
 * @param reasons why it is out of service
 */
export const mayBeChecked = (n: NodeRecord, reasons: readonly Pick<OutReason, 'code'>[], hold?: Hold): boolean =>
  hold?.job === undefined && hold?.edit === undefined && servesOn(n, reasons);

/** Is what was begun still to go on? */
export const servesOn = (n: NodeRecord, reasons: readonly Pick<OutReason, 'code'>[]): boolean =>
  isReachable(n) && reasons.every((r) => r.code === 'RESERVED');
