import type { NodeRecord } from '#contracts';
import { stormCounts, StormNumbers, type PermitCounts } from './storm-counts.js';

/*
 * In mode observe no permit is given, so gates CAP and FLAPPING, which count permits, let everybody pass. Here they count
 * what would have been given.
 */

/** An incident that mode `observe` alone stopped, for as long as it did. One may have asked several times. */
export interface WouldBeAsk {
  incident: string;
  node: string;
  /** ms, by the clock of all that is given here. */
  from: number;
  /** It is over, or another gate stops it; of one that still asks: now. */
  until: number;
}

/** A step of an incident. */
export interface ObservedStep {
  at: number;
  /** By it mode `observe` stops the incident. */
  isObserved: boolean;
}

/** Pure: when an incident asked. @param steps of it, the oldest first */
export function asksOf(
  who: Pick<WouldBeAsk, 'incident' | 'node'>,
  steps: readonly ObservedStep[],
  now: number,
): WouldBeAsk[] {
  const asks: WouldBeAsk[] = [];
  for (const [n, { at, isObserved }] of steps.entries()) {
    if (!isObserved) continue;
    const until = steps[n + 1]?.at ?? now;
    const last = asks.at(-1);
    // A step that tells more of the same keeps its place among those that wait.
    if (last !== undefined && steps[n - 1]?.isObserved === true) last.until = until;
    else asks.push({ incident: who.incident, node: who.node, from: at, until });
  }
  return asks;
}

/** A permit that was given, or would have been. */
export interface PermitAt {
  incident: string;
  node: string;
  at: number;
}

/** Gates that count permits alone, in the order in which they are asked. */
const counting = ['CAP', 'FLAPPING'] as const;
export type CountingGate = (typeof counting)[number];

export interface WouldBe {
  /** In the order in which they would have been. */
  granted: PermitAt[];
  /** Incident → the gate that would have held it for as long as it asked. */
  stopped: ReadonlyMap<string, CountingGate>;
}

/**
 * Pure: which incidents would have got a permit, had the mode been `enforce`. Whom a gate holds goes on asking, as it
 * would: it gets one when enough others are old, if it is not over by then.
 * @param given permits that were given while the mode was `enforce`
 */
export function wouldBePermits(
  asks: readonly WouldBeAsk[],
  given: readonly PermitAt[],
  { members, limits }: Pick<PermitCounts, 'members' | 'limits'>,
): WouldBe {
  const arrivals = [
    ...given.map((permit) => ({ at: permit.at, permit, ask: undefined })),
    ...asks.map((ask) => ({ at: ask.from, permit: undefined, ask })),
  ].sort((a, b) => a.at - b.at);
  const granted: PermitAt[] = [];
  const stopped = new Map<string, CountingGate>();
  const have = new Set<string>();
  /** Of those permits that still count, the oldest first. */
  let counted: PermitAt[] = [];
  let waiting: WouldBeAsk[] = [];

  const give = (permit: PermitAt): void => {
    have.add(permit.incident);
    stopped.delete(permit.incident);
    counted.push(permit);
  };
  const ask = ({ incident, node }: WouldBeAsk, at: number): CountingGate | undefined => {
    const grants = counted.map((p) => ({ incident: p.incident, node: p.node, ageMs: at - p.at }));
    const asker: Pick<NodeRecord, 'name'> = { name: node };
    const stops = counting.find((gate) => !stormCounts[gate]({ grants, members, limits }, asker, incident).pass);
    if (stops !== undefined) stopped.set(incident, stops);
    else {
      const permit = { incident, node, at };
      give(permit);
      granted.push(permit);
    }
    return stops;
  };
  /** Those that wait, by who came first: of one that CAP stops nobody behind it passes. */
  const askAgain = (at: number): void => {
    let isFull = false;
    waiting = waiting.filter((w) => {
      if (w.until <= at || have.has(w.incident)) return false;
      const stops = isFull ? 'CAP' : ask(w, at);
      isFull = stops === 'CAP';
      return stops !== undefined;
    });
  };

  for (let next = arrivals.shift(); next !== undefined || (waiting.length > 0 && counted.length > 0);) {
    const expiry = counted[0] === undefined ? Infinity : counted[0].at + StormNumbers.capWindow;
    if (next === undefined || expiry <= next.at) {
      counted = counted.filter((p) => p.at + StormNumbers.capWindow > expiry);
      askAgain(expiry);
      continue;
    }
    if (next.permit !== undefined) give(next.permit);
    else if (!have.has(next.ask.incident) && ask(next.ask, next.at) !== undefined) waiting.push(next.ask);
    next = arrivals.shift();
  }
  return { granted, stopped };
}
