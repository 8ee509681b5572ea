import { MusterError } from '#contracts';
import { NETWORKS, type Network } from '../plan.js';

/** Where a cable of the switch ends: `host1` …, `ctl` or `ctl1` … (NATS and the services), `peers` (all simulated peers). */
export type End = string;

/** Of a cable, as its end sees it. */
const LOSS_DIRECTIONS = ['sent', 'received'] as const;
export type LossDirection = (typeof LOSS_DIRECTIONS)[number];

/** What a switch does to the frames that it should carry; each holds on one network. */
export type SwitchFault =
  /** Nothing passes from one end to the other; the way back is another fault. */
  | { kind: 'cut'; network: Network; from: End; to: End }
  /**
   * So many frames of a thousand are lost: on the cable of one end, each way or only of what it sends or receives, or
   * (absent) in the switch itself.
   */
  | { kind: 'loss'; network: Network; end?: End; direction?: LossDirection; permille: number }
  /** Nothing passes from one side to another. Who is on no side hears everybody. */
  | { kind: 'partition'; network: Network; sides: End[][] }
  /** It carries nothing for anybody. */
  | { kind: 'down'; network: Network };

/** Two with the same key cannot hold at once: the later one replaces the earlier. */
function keyOf(f: SwitchFault): string {
  switch (f.kind) {
    case 'cut':
      return `cut ${f.network} ${f.from} ${f.to}`;
    case 'loss':
      return `loss ${f.network} ${f.end ?? ''}`;
    case 'partition':
    case 'down':
      return `${f.kind} ${f.network}`;
  }
}

/** With the new ones in force. A loss of 0 ends that loss; one of 0 in a whole switch ends those of its cables, too. */
export function withFaults(now: readonly SwitchFault[], added: readonly SwitchFault[]): SwitchFault[] {
  const kept = new Map(now.map((f) => [keyOf(f), f]));
  for (const f of added) {
    kept.delete(keyOf(f));
    if (f.kind !== 'loss' || f.permille > 0) kept.set(keyOf(f), f);
    else if (f.end === undefined)
      for (const [key, k] of kept) if (k.kind === 'loss' && k.network === f.network) kept.delete(key);
  }
  return [...kept.values()];
}

/** What is left when the cables of one end are whole again: what is wrong with the switch itself stays. */
export function withoutEnd(now: readonly SwitchFault[], end: End): SwitchFault[] {
  return now.flatMap((f): SwitchFault[] => {
    switch (f.kind) {
      case 'cut':
        return f.from === end || f.to === end ? [] : [f];
      case 'loss':
        return f.end === end ? [] : [f];
      case 'partition': {
        const sides = f.sides.map((s) => s.filter((e) => e !== end)).filter((s) => s.length > 0);
        return sides.length > 1 ? [{ ...f, sides }] : [];
      }
      case 'down':
        return [f];
    }
  });
}

/** One line for people. */
export function faultText(f: SwitchFault): string {
  switch (f.kind) {
    case 'cut':
      return `${f.network}: nothing from ${f.from} to ${f.to}`;
    case 'loss':
      return `${f.network}: ${f.permille / 10} % lost ${lossPlace(f)}`;
    case 'partition':
      return `${f.network}: split ${f.sides.map((s) => s.join(',')).join(' / ')}`;
    case 'down':
      return `${f.network}: the switch is down`;
  }
}

function lossPlace({ end, direction }: { end?: End; direction?: LossDirection }): string {
  if (end === undefined) return 'in the switch';
  return direction === undefined ? `on the cable of ${end}` : `of what ${end} has ${direction}`;
}

/** `host1:host2`, also by the names of their nodes. BAD_REQUEST where it is no pair of two different ends. */
export function pairOf(text: string, endOf: (name: string) => End): [End, End] {
  const parts = text.split(':');
  if (parts.length !== 2 || parts.includes(''))
    throw new MusterError('BAD_REQUEST', `"${text}": two ends are expected, as in host1:host2`);
  const [from, to] = parts.map(endOf) as [End, End];
  if (from === to) throw new MusterError('BAD_REQUEST', `"${text}": both ends are ${from}`);
  return [from, to];
}

/** `host1,host2/host3,ctl`. BAD_REQUEST where there are fewer than two sides, or one end is on two of them. */
export function sidesOf(text: string, endOf: (name: string) => End): End[][] {
  const sides = text.split('/').map((side) => side.split(',').map((name) => name.trim()));
  if (sides.length < 2 || sides.some((s) => s.includes('')))
    throw new MusterError('BAD_REQUEST', `"${text}": sides are expected, as in host1,host2/host3,ctl`);
  const ends = sides.map((s) => s.map(endOf));
  const all = ends.flat();
  const twice = all.find((e, i) => all.indexOf(e) !== i);
  if (twice !== undefined) throw new MusterError('BAD_REQUEST', `"${text}": ${twice} stands in it twice`);
  return ends;
}

/** % with at most one decimal, in thousandths. BAD_REQUEST for anything else. */
export function permilleOf(percent: string): number {
  const n = Number(percent);
  if (!/^\d{1,3}(\.\d)?$/.test(percent) || n > 100)
    throw new MusterError('BAD_REQUEST', `"${percent}": a loss from 0 to 100 % is expected, with at most one decimal`);
  return Math.round(n * 10);
}

/** BAD_REQUEST for another word, or where no cable is named that has the two directions. */
export function directionOf(word: string, ends: readonly string[] | undefined): LossDirection {
  const direction = LOSS_DIRECTIONS.find((d) => d === word);
  if (direction === undefined)
    throw new MusterError('BAD_REQUEST', `"${word}": a direction is ${LOSS_DIRECTIONS.join(' or ')}`);
  if (ends === undefined) throw new MusterError('BAD_REQUEST', '--direction goes with --host: whose cable is meant?');
  return direction;
}

/** Those that were named, or both that hosts are on. BAD_REQUEST for one that a fault cannot hold on. */
export function networksOf(named: readonly string[] = [], known: readonly Network[] = HOST_NETWORKS): Network[] {
  const wrong = named.find((n) => !(known as readonly string[]).includes(n));
  if (wrong !== undefined) throw new MusterError('BAD_REQUEST', `no network "${wrong}"; there are ${known.join(', ')}`);
  return named.length > 0 ? [...new Set(named as Network[])] : [...known];
}

const HOST_NETWORKS = NETWORKS.filter((n) => n !== 'oob');
