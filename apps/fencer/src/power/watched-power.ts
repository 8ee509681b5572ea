import type { DriverWatch } from '../drivers/driver-watch.js';
import type { IdentifyingPower } from './power-control.js';

/** Tells the watch of each command whether its driver could be started. */
export const watchedPower = (power: IdentifyingPower, watch: Pick<DriverWatch, 'note'>): IdentifyingPower => ({
  async run(device, verb, deadline, signal) {
    const outcome = await power.run(device, verb, deadline, signal);
    // Refused before anything was started: it says nothing.
    if (outcome.code !== 'DEADLINE_PASSED') watch.note(device.driver, outcome.code !== 'DRIVER_UNAVAILABLE');
    return outcome;
  },
  identify: (device, o) => power.identify(device, o),
});
