import { MusterError, type HostGroup, type JobKind, type NodeRecord, type NodeStatus } from '#contracts';
import { isInUse, isServingMaster, roleOf } from '#domain/node/roles.js';

/** What the rules need of a node, as it will be once every admitted job has started. */
export interface RoledNode {
  name: string;
  hostGroup?: string;
  status: NodeStatus;
  state: NodeRecord['state'];
}

/**
 * The rules over several nodes: workers need a master. Only groups with a role count. `others` are the nodes outside
 * the request. A master counts when it is Allocated and Discovered; a worker that is being commissioned or updated
 * counts already, and one that is being decommissioned counts still, since its job may be called off: so two requests
 * side by side cannot leave it alone.
 */
export function brokenRoleRule(
  kind: JobKind,
  hostGroup: string | undefined,
  requested: readonly RoledNode[],
  others: () => Iterable<RoledNode>,
  groups: readonly HostGroup[],
): MusterError | undefined {
  const role = (n: RoledNode): HostGroup['role'] => roleOf(groups, n.hostGroup);
  const masterLeft = (): boolean => {
    for (const n of others()) if (isServingMaster(n, groups)) return true;
    return false;
  };
  const workersLeft = (): boolean => {
    for (const n of others()) if (role(n) === 'worker' && isInUse(n)) return true;
    return false;
  };
  const takesMaster = requested.some((n) => role(n) === 'master' && n.status === 'Allocated');
  const target = hostGroup === undefined ? undefined : roleOf(groups, hostGroup);

  if (kind === 'commission' && target === 'worker' && !masterLeft())
    return rule(
      'Cannot commission a worker node without existence of a master node in the cluster, make sure atleast one master node is commissioned.',
    );
  if (
    kind === 'maintenance' &&
    (target === 'worker' || (target === 'none' && takesMaster && workersLeft())) &&
    !masterLeft()
  )
    return rule(
      'Updating these nodes as worker will result in no master node in the cluster, make sure atleast one node is commissioned as master.',
    );
  if (kind === 'decommission' && takesMaster && workersLeft() && !masterLeft())
    return rule(
      'decommissioning the specified node(s) will leave only worker nodes in the cluster, make sure all worker nodes are decommissioned before last master node.',
    );
  return undefined;
}

const rule = (message: string): MusterError => new MusterError('ROLE_RULE', message);
