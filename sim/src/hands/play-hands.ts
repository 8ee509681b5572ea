import { Player } from '../play.js';
import { drawHands, type HandsHistory } from './hands-history.js';
import { HandsRules } from './hands-oracle.js';
import { HandsWorld } from './hands-world.js';
import { NAMED_SEED, namedHistories, type NamedHistory } from './named-histories.js';

/** The simulation of fencers and provisioners. */
export const hands = new Player<HandsHistory, NamedHistory>({
  draw: drawHands,
  named: namedHistories,
  world: (history, o, named) => new HandsWorld(history, { ...o, ...(named?.bounds && { bounds: named.bounds }) }),
  rules: HandsRules,
  namedSeed: NAMED_SEED,
  least: {
    histories: 200,
    probes: {
      'fenced: read-back': 60,
      'read as off': 200,
      'a lease changed hands': 80,
      'a job was taken over': 12,
      'a pause acknowledged with an incident open': 1,
      'a command cut short, then another fencer took the lease': 5,
      'a playbook cut short, then another took its job over': 5,
    },
  },
});
