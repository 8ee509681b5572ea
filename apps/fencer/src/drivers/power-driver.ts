import type { DeviceFacts, ErrorCode, PowerDevice, PowerVerb } from '#contracts';

/** Of a BMC whose device names none (IPMI 2.0, RMCP+). */
export const IPMI_PORT = 623;

/** Two devices with one address and port are one BMC, whatever they are called, and by whichever driver. */
export const bmcAddress = (d: PowerDevice): string => `${d.address}:${d.port ?? IPMI_PORT}`;

export type Power = 'on' | 'off' | 'unknown';

/** What one command came to. The return code of `off` and `on` is a hint; success is the power that is read. */
export interface PowerOutcome {
  /** The device took the command (`status`: gave a definite answer). */
  ok: boolean;
  /** `status` only. Unknown is never off. */
  power?: Power;
  /** BMC_AUTH, BMC_CIPHER, BMC_TIMEOUT, BMC_REFUSED, DEADLINE_PASSED, COMMAND_FAILED; DRIVER_UNAVAILABLE: not started. */
  code?: ErrorCode;
  /** For people; never holds a secret. */
  detail?: string;
}

/** Until when a command may run. It is asked while the command runs: a lease that is renewed moves it. */
export interface PowerDeadline {
  /** CLOCK_MONOTONIC, ns. */
  atNs(): bigint;
}

export interface PowerRequest {
  device: PowerDevice;
  verb: PowerVerb;
  /** Goes to the command by its environment only. */
  password?: string;
  deadline: PowerDeadline;
  /** Kills a running command. */
  signal?: AbortSignal;
}

/** What a device says of itself, where it was reached; what it does not tell is absent. */
export type DeviceIdentity = { seen: DeviceFacts } | { seen?: undefined; code: ErrorCode; detail: string };

export interface IdentifyRequest extends Omit<PowerRequest, 'verb'> {
  /** No more than it takes to tell one device from another. */
  quick: boolean;
}

/** One way to reach a power device. */
export interface PowerDriver {
  /** As in `PowerDevice.driver`. */
  readonly name: string;
  /** Why it cannot work on this host (its tool is missing), or undefined. */
  selfTest(): Promise<string | undefined>;
  run(request: PowerRequest): Promise<PowerOutcome>;
  /** Reads who the device is. Absent: devices of this kind do not say. */
  identify?(request: IdentifyRequest): Promise<DeviceIdentity>;
}

/** The drivers of this host, whether or not they work. */
export interface PowerDrivers {
  /** Tests each of them; the names of those that passed. */
  test(): Promise<string[]>;
}
