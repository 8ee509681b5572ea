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
  // A tenth of what 40 histories let expect: what is met more rarely than that is not drawn any more.
  least: {
    histories: 20_000,
    probes: {
      'a compare-and-set is lost: admission': 50,
      'a compare-and-set is lost: incidents': 40,
      'a compare-and-set is lost: jobs': 200,
      'a compare-and-set is lost: leases': 300,
      'a compare-and-set is lost: nodes': 50,
      'a compare-and-set is lost: workloads': 20,
      'a contradiction voids a proof: manual': 15,
      'a fencer ends while an incident is recovering': 50,
      'a late write is refused: a fencer': 15,
      'a late write is taken: a fencer': 40,
      'a lease changed hands': 1_000,
      'a pause acknowledged with an incident open': 50,
      'a provisioner ends while an incident is fencing': 50,
      'a provisioner ends while an incident is recovering': 50,
      'a return during a fencing': 200,
      'a second read disagrees': 80,
      'a stale token at a provisioner': 30,
      'a storm is tripped': 800,
      'a target falls silent during a recovery': 50,
      'an act is ended by its lost lease: a fencer': 50,
      'an inventory ends while an incident is fencing': 100,
      'an inventory ends while an incident is recovered': 200,
      'an inventory ends while an incident is recovering': 100,
      'cleaned up': 300,
      'fenced: already-off': 100,
      'fenced: read-back': 2_000,
      'incident cancelled': 1_000,
      'incident failed': 100,
      'incident survived': 50,
      'off sent to a machine that lives again': 200,
      'past LIFE_SIGN': 600,
      'past OBSERVE': 50,
      'powered on right as the quarantine ends': 1_000,
      'started elsewhere after: off': 1_500,
      'started elsewhere after: reset': 600,
      'stopped by BLIND': 100,
      'stopped by BRAKE': 800,
      'stopped by LIFE_SIGN': 1_400,
      'stopped by NOT_FENCEABLE': 100,
      'stopped by OBSERVE': 100,
      'told as powered on': 1_000,
    },
  },
});
