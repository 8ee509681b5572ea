import type { DriverWatch } from '../drivers/driver-watch.js';
import type { PowerControl } from './power-control.js';

/** Tells the watch of each command whether its driver could be started. */
export const watchedPower = (power: PowerControl, watch: Pick<DriverWatch, 'note'>): PowerControl => ({
  async run(device, verb, deadline, signal) {
    const outcome = await power.run(device, verb, deadline, signal);
    // Refused before anything was started: it says nothing.
    if (outcome.code !== 'DEADLINE_PASSED') watch.note(device.driver, outcome.code !== 'DRIVER_UNAVAILABLE');
    return outcome;
  },
});
