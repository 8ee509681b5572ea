import type { Named } from '../play.js';
import { quietFleet, type FleetHistory } from './fleet-history.js';
import type { FleetRule } from './fleet-oracle.js';

export interface NamedFleet extends Named<FleetHistory> {
  knownRed?: FleetRule[];
}

/** Of the first; the others count on from it. */
export const FLEET_SEED = 11;

/** By the name under which `--sweep` and the specs find them. */
export const namedFleets: Record<string, NamedFleet> = {
  death: {
    shows: 'a machine dies, is powered off, and its work runs elsewhere; it is powered on, checked and taken back',
    history: quietFleet('death', FLEET_SEED, {
      events: [{ kind: 'death', at: 20_000, node: 'n-1' }],
      quietFrom: 40_000,
    }),
  },
};
