import type { GateCode, GateResult, NodeRecord } from '#contracts';
import { storm, type StormFacts } from './storm.js';
import { holding, viewOf, type LatchGate } from './trip.js';

type StormGate = keyof typeof storm;
const latching: readonly LatchGate[] = ['BRAKE', 'DOMAIN'];
const isLatching = (gate: StormGate): gate is LatchGate => (latching as readonly string[]).includes(gate);

/** One of the storm gates: what stands holds its members, whatever the counts are by now. */
export function askStorm(gate: StormGate, s: StormFacts, node: NodeRecord, incident?: string): GateResult {
  const l = s.latch;
  if (l?.settling === true && gate === 'BRAKE')
    return { gate, pass: false, detail: 'The detector has just begun to see: who else is silent is not known yet.' };
  const trip = l !== undefined && isLatching(gate) ? holding(l.trips, node.name, gate) : undefined;
  if (l === undefined || trip === undefined) return { gate, ...storm[gate](s, node, incident) };
  return { gate, pass: false, detail: viewOf(trip, s, l, 0).detail };
}

/** Gates at which a storm that stands holds the node. */
export const heldAt = (s: StormFacts | undefined, node: string): GateCode[] =>
  latching.filter((gate) => s?.latch !== undefined && holding(s.latch.trips, node, gate) !== undefined);
