import { defaultStorm, type NodeRecord } from '#contracts';
import type { GateFacts } from '#domain/incident/gates.js';
import type { StormFacts } from '#domain/incident/storm-counts.js';
import { ageMs } from '../snapshot/ages.js';
import type { Fleet } from '../snapshot/fleet.js';
import type { Investigation } from '../snapshot/investigation.js';
import { fleetSource } from './planned.js';
import type { MemoryStore } from './memory-store.js';
import { aVerdict, enforced } from './records.js';

/** A fleet of five in which one has just fallen silent. */
export const calmStorm = (silent: string, o: Partial<StormFacts> = {}): StormFacts => ({
  limits: defaultStorm,
  members: 5,
  silent: [{ node: silent, domain: 'default', forMs: 3000 }],
  unrecovered: [],
  grants: [],
  domains: { default: { members: 5 } },
  domainOf: () => 'default',
  ...o,
});

/** Of a node that is dead beyond doubt, in a calm fleet, with every input known: all gates pass. */
export const foundDead = (node: NodeRecord, o: Partial<GateFacts> = {}): Investigation => ({
  gates: {
    cause: 'auto',
    node,
    detector: { fresh: true, sighted: true, members: 5, reporters: 4 },
    verdict: aVerdict(node.name),
    settings: enforced(),
    reservedBy: { known: true },
    power: 'on',
    storm: calmStorm(node.name),
    broker: { servers: ['10.9.0.1'], total: 1, onThisNode: [], doubtful: [], unresolved: [] },
    otherFencers: 2,
    wallNow: 1_000_000,
    ...o,
  },
  story: 'Power at suspicion: on.',
  silent: [],
  askedAgo: ageMs(0),
});

/** As of now. */
export const fleetOf = (store: MemoryStore, o: Partial<Fleet> = {}): Fleet => ({
  ...fleetSource(store).now(),
  knowsSettings: true,
  ...o,
});
