import type { CommandLog, IncidentRecord, NodeRecord, PowerDevice } from '#contracts';
import type { PowerWish } from '#domain/power/power-wish.js';
import { switchOwner } from '#domain/power/switch-step.js';
import { deviceOwner, type DeviceOwner, type Identified, type IdentityRead } from '#domain/power/whose-device.js';

/** The records of one node as they were read for one decision, and what they want of its power. */
export interface Snapshot {
  incident: IncidentRecord;
  /** Of the incident: what is decided on it is written over this revision, or not at all. */
  revision: number;
  wish: PowerWish;
  /** Undefined: it is not registered. */
  node: NodeRecord | undefined;
}

/** What the two records tell of whose the node's power devices are. */
export const identifiedBy = (node: NodeRecord | undefined, { denied }: CommandLog): Identified => ({
  ...(node?.powerIdentity !== undefined && { powerIdentity: node.powerIdentity }),
  ...(node?.hardware !== undefined && { hardware: node.hardware }),
  ...(denied !== undefined && { denied }),
});

/**
 * Whose is the device, by what is on record of it, and by what it said shortly before?
 * @param identities who the devices of the node said they are
 */
export function ownerOf(
  device: PowerDevice,
  { incident, wish, node }: Snapshot,
  identities: readonly IdentityRead[],
): DeviceOwner {
  const m = { identified: identifiedBy(node, incident), identities };
  return wish.verb === 'off' ? deviceOwner(m.identified, device, m.identities) : switchOwner(wish, incident, device, m);
}
