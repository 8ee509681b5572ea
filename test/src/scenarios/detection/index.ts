import type { Scenario } from '../../scenario.js';
import { D13, D13agent } from './agents.js';
import { D17, D1of10, D1of3, D1of32, D24, D5 } from './death.js';
import { D6interface, D6interfaces } from './interfaces.js';
import { F35, F35stopped, F36 } from './life-signs.js';
import { D14at1, D14at20, D14at5 } from './loss.js';
import { D26 } from './lossy-sender.js';
import { D11, D11cut, D12 } from './monitor.js';
import { D10, D10of4, D10of5, D10of6, D3, D4, D6, D8, D9 } from './networks.js';
import { D21 } from './peers.js';
import { D22, D22parts } from './rejoin.js';
import { D25 } from './voiceless.js';
import { D7of2, D7of3, D7of4, D7of5, D7of6 } from './votes.js';
import { D16, D18, D18vote } from './wire.js';

export { D2 } from './agents.js';
export { D19D20 } from './peers.js';
export { D15 } from './wire.js';

/** Cables: none of them leaves a host to be set up again. */
export const networks: readonly Scenario[] = [D3, D4, D6, D8, D10, D13];
export const monitor: readonly Scenario[] = [D18, D21];

/** Minutes each, or on fleets of another size. */
export const detectionLong: readonly Scenario[] = [
  D1of3,
  D7of3,
  D1of10,
  D7of2,
  D7of4,
  D10of4,
  D5,
  D7of5,
  D10of5,
  D6interfaces,
  D6interface,
  D11,
  D11cut,
  D12,
  D13agent,
  D25,
  D16,
  D18vote,
  D22,
  ...D22parts,
  D17,
  D24,
  F35,
  F35stopped,
  F36,
  D14at20,
  D14at1,
  D14at5,
  D26,
  D7of6,
  D9,
  D10of6,
  D1of32,
];
