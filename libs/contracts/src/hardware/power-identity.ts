/** What tells one machine's power device from another's. Of each kind at most one; fillers, zeros and FF are none. */
export interface DeviceFacts {
  /** Of the BMC, 32 hexadecimal digits in the order in which the device sends the bytes. */
  guid?: string;
  boardSerial?: string;
  chassisSerial?: string;
}

/** What a machine says of itself from within, by discovery and by the check job. */
export interface HardwareFacts {
  /** UUID of the system by DMI, 32 hexadecimal digits in the order in which it is written. */
  systemUuid?: string;
  /** GUID of its BMC, read in band, as {@link DeviceFacts.guid}: by /dev/ipmi, where there is one. */
  bmcGuid?: string;
  boardSerial?: string;
  chassisSerial?: string;
  /** Wall clock, ms. */
  at: number;
}

/** Like with like: what the device says of itself against what the machine says; or by a drill. */
export type IdentityProof = 'guid' | 'serial' | 'drill';

/**
 * Whether a power device is its node's own, by the last comparison. It holds for one place and one set of credentials:
 * see `identityBasis`.
 */
export interface PowerIdentity {
  result: 'proven' | 'unproven' | 'mismatch';
  /** With `proven`. */
  by?: IdentityProof;
  /** Wall clock, ms: when it was compared or drilled. */
  at: number;
  /** `unproven`, `mismatch`: in one sentence. */
  why?: string;
  /** What the device said then. */
  seen?: DeviceFacts;
  /** Of a mismatch: an administrator says that it is its own all the same. It stays unproven. */
  acknowledged?: { by: string; why: string; at: number };
  /** Of one that was proven: it does not say who it is any more, since then (wall clock, ms), and why. */
  unread?: { at: number; why: string };
  /** `identityBasis` of the device that it was found for. */
  basis: string;
}

/** A device's own word that it is another machine's. */
export interface DeviceDenial {
  /** `identityBasis` of the device that said so. */
  basis: string;
  /** What it said. */
  seen: DeviceFacts;
  /** Wall clock, ms: when it was put on record. */
  at: number;
}
