import { masked, type NodeRecord } from '#contracts';

const shown = new WeakMap<NodeRecord, NodeRecord>();

/**
 * A node as answered to readers, and as their selectors see it: whoever may look at nodes is not yet one who may know
 * the fleet's secrets. Made once for each record.
 */
export function shownNode(record: NodeRecord): NodeRecord {
  let made = shown.get(record);
  if (made === undefined) shown.set(record, (made = withoutSecrets(record)));
  return made;
}

function withoutSecrets(record: NodeRecord): NodeRecord {
  const vars = masked(record.vars);
  const powerLevels = record.powerLevels.map((level) =>
    level.map((device) => (device.options === undefined ? device : { ...device, options: masked(device.options) })),
  );
  return { ...record, vars, powerLevels };
}
