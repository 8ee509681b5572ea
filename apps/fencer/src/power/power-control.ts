import type { PowerDevice, PowerVerb } from '#contracts';
import type { DeviceIdentity, PowerDeadline, PowerOutcome } from '../drivers/power-driver.js';

export interface TimedOutcome extends PowerOutcome {
  /** ms, monotonic, from the call to the command's end. */
  tookMs: number;
}

/** Power devices, as whoever fences reaches them. A simulation plays them here. */
export interface PowerControl {
  /**
   * Gives one command to one device. It never throws: what went wrong is the outcome. At the deadline, which is asked
   * again while the command runs, the command is killed, also where this process is stopped or gone by then.
   */
  run(device: PowerDevice, verb: PowerVerb, deadline: PowerDeadline, signal?: AbortSignal): Promise<TimedOutcome>;
}

/** The same, and who the devices are. */
export interface IdentifyingPower extends PowerControl {
  /** Who the device says it is; nothing is changed. Never rejects. */
  identify(
    device: PowerDevice,
    o: { deadline: PowerDeadline; quick: boolean; signal?: AbortSignal },
  ): Promise<DeviceIdentity>;
}
