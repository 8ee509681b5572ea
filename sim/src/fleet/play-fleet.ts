import { Player } from '../play.js';
import { drawFleet, type FleetHistory } from './fleet-history.js';
import { FleetRules } from './fleet-oracle.js';
import { FleetWorld } from './fleet-world.js';
import { FLEET_SEED, namedFleets, type NamedFleet } from './named-fleet-histories.js';

/** The simulation of the whole plane. */
export const fleet = new Player<FleetHistory, NamedFleet>({
  draw: drawFleet,
  named: namedFleets,
  world: (history, o) => new FleetWorld(history, o),
  rules: FleetRules,
  namedSeed: FLEET_SEED,
  least: { histories: 200, probes: {} },
});
