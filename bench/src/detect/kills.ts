import { setTimeout as pause } from 'node:timers/promises';
import { performance } from 'node:perf_hooks';
import { MusterError } from '#contracts';
import type { Watch } from './watch.js';

/** A fleet in which nodes can be killed, one after the other. */
export interface MortalFleet<N extends { name: string }> {
  readonly watch: Watch;
  readonly nodes: readonly N[];
  /** Ends all life of the node: nothing of it answers or refuses any more. */
  die(node: N): Promise<void>;
  rise(node: N): Promise<void>;
  /** Resolves when every node is UP, and nobody misses anybody. */
  whole(): Promise<void>;
}

/** How long until it was told: ms, one per kill. */
export interface Kills {
  ms: number[];
  /** Kills in which an observer abstained for want of CPU: repeated, and not among the others. */
  void: number;
  /** Nodes that lived and were called anything but UP or UNKNOWN: `node DOWN`. */
  wrong: string[];
}

const LIMIT_MS = 20_000;
/** Rounds that may be void before the machine is too busy to measure anything. */
const VOID_MOST = 5;

/**
 * Kills so many nodes in turn and takes the time from just before each death to the verdict on NATS. Deaths are spread
 * evenly over the time between two probes, `interval` ms.
 */
export async function killInTurn<N extends { name: string }>(
  fleet: MortalFleet<N>,
  count: number,
  interval: number,
): Promise<Kills> {
  const kills: Kills = { ms: [], void: 0, wrong: [] };
  for (let round = 0; kills.ms.length < count; round++) {
    const victim = fleet.nodes[round % fleet.nodes.length] as N;
    await pause((interval * (round % count)) / count);
    const from = fleet.watch.verdicts.length;
    const told = fleet.watch.next(victim.name, 'DOWN', LIMIT_MS);
    const killedAt = performance.now();
    // Whichever fails first tells why; a verdict that comes before the command has returned is one all the same.
    const [down] = await Promise.all([told, fleet.die(victim)]);
    const abstained = down.evidence.observers.filter((o) => o.abstains === true);
    if (abstained.length === 0) kills.ms.push(down.seenAt - killedAt);
    else if (++kills.void > VOID_MOST)
      throw new MusterError(
        'COMMAND_FAILED',
        `${kills.void} rounds were void: agents abstain, the machine is too busy`,
      );
    await fleet.rise(victim);
    await fleet.whole();
    for (const { node, verdict } of fleet.watch.verdicts.slice(from))
      if (node !== victim.name && verdict !== 'UP' && verdict !== 'UNKNOWN') kills.wrong.push(`${node} ${verdict}`);
  }
  return kills;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const upper = sorted[Math.floor(half)] as number;
  return Number.isInteger(half) ? ((sorted[half - 1] as number) + upper) / 2 : upper;
}

/** For people: `20 kills: 2914 / 3180 / 3391 ms`. */
export function summary({ ms, ...rest }: Kills): string {
  const three = [Math.min(...ms), median(ms), Math.max(...ms)].map((n) => n.toFixed(0)).join(' / ');
  return [`${ms.length} kills: ${three} ms (least, median, most)`, ...besides(rest)].join('; ');
}

/** What figures of these kills are taken from: `20 kills`, and what else happened. */
export const taken = ({ ms, ...rest }: Kills): string => [`${ms.length} kills`, ...besides(rest)].join('; ');

const besides = ({ void: voided, wrong }: Omit<Kills, 'ms'>): string[] => [
  ...(voided > 0 ? [`${voided} more were void`] : []),
  ...(wrong.length > 0 ? [`wrongly told: ${wrong.join(', ')}`] : []),
];
