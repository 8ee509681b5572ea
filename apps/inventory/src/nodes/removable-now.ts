import { isOpenIncident, NODE_NAME_PATTERN, type NodeRecord, type Reservations } from '#contracts';
import { assignedNow } from '../recovery/assigned-now.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { checkRevision } from './node-rules.js';
import { unknownNode } from './node.service.js';
import { refusedRemoval } from './removal.js';

/**
 * The record of a node that may be forgotten, or give its place to new hardware, by what is stored now.
 * @param held of the reservations that were read before, so that what is begun with it meanwhile is not missed
 * @param revision that the asker has seen
 * @throws MusterError NODE_UNKNOWN, REVISION_CONFLICT, and as {@link refusedRemoval}
 */
export async function removableNow(
  store: InventoryStore,
  name: string,
  held: Reservations['held'],
  revision: number | undefined,
): Promise<NodeRecord> {
  const entry = NODE_NAME_PATTERN.test(name) ? await store.nodes.bucket.get(name) : undefined;
  if (!entry) throw unknownNode(name);
  checkRevision(name, entry.revision, revision);
  const incident = (await store.incidents.bucket.get(name))?.value;
  const refused = refusedRemoval(entry.value, {
    hold: held[name],
    incident: incident && isOpenIncident(incident) ? incident : undefined,
    workloads: await assignedNow(store.workloads, name),
  });
  if (refused) throw refused;
  return entry.value;
}
