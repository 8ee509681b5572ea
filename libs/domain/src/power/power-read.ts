import type { Identified, IdentityRead } from './whose-device.js';

/** One read of a device's power by this process; times on its own monotonic clock, ms. */
export interface PowerRead {
  device: string;
  level: number;
  power: 'on' | 'off' | 'unknown';
  code?: string;
  detail?: string;
  startedMs: number;
  endedMs: number;
  /** Wall clock at its start, for the record. */
  at: number;
}

/** What a fencer has seen itself of what it does with a node's power; own monotonic clock, ms. */
export interface PowerMemory {
  /** In the order of their ends. */
  reads: PowerRead[];
  /** Device → when the last command of this process that could change its power ended. */
  endedMs: Record<string, number>;
  /** Devices with a command of this process under way. */
  busy: readonly string[];
  /** What is known of whose the node's power devices are. */
  identified: Identified;
  /** Who its devices said they are, as was read here in this attempt or by others shortly before. */
  identities: readonly IdentityRead[];
}
