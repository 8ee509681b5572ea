import {
  checkVariables,
  MANAGEMENT,
  MusterError,
  NAME_PATTERN,
  NODE_NAME_PATTERN,
  type HostGroup,
  type NodeRecord,
} from '#contracts';
import { isConfigured } from '#domain/node/membership.js';
import { ansibleYaml } from './ansible-yaml.js';

export interface InventoryInput {
  /** All nodes that are known. */
  nodes: NodeRecord[];
  hostGroups: HostGroup[];
  /** Nodes that the run is for. */
  targets: string[];
  /** Default ssh user; a node's `ansible_user` goes first. */
  user: string;
  /** How every host is reached in this run, on top of what it says itself. @default nothing */
  connection?: Record<string, unknown>;
  /** Names under which ssh knows the keys of hosts that have no name of their own yet. @default the node's name */
  aliases?: ReadonlyMap<string, string>;
  /** Hosts, by their names here, that must show a key that is known; the first key of any other is taken. */
  strict?: ReadonlySet<string>;
}

export interface InventoryFile {
  text: string;
  /** Members of the cluster that could not be written; no targets. */
  left: { node: string; reason: string }[];
}

const ADDRESS = /^[A-Za-z0-9:][A-Za-z0-9.:_-]{0,254}$/;
const USER = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

/**
 * Ansible's inventory of a job. The job's nodes are picked by `--limit`; every other member of the cluster stands in
 * its host group as well, and every group that is configured exists, so that templates which look at other hosts
 * come out the same in every job.
 *
 * @throws NODE_UNKNOWN, BAD_REQUEST where a target cannot be written
 */
export function inventoryFile(input: InventoryInput): InventoryFile {
  const targets = new Set(input.targets);
  const roles = new Map(input.hostGroups.map((g) => [g.name, g.role]));
  const hosts: string[] = [];
  const groups = new Map<string, string[]>(input.hostGroups.map((g) => [g.name, []]));
  const byRole = new Map<string, string[]>([
    ['muster_role_master', []],
    ['muster_role_worker', []],
  ]);
  const left: InventoryFile['left'] = [];
  const known = new Set(input.nodes.map((n) => n.name));
  for (const name of targets)
    if (!known.has(name)) throw new MusterError('NODE_UNKNOWN', `node ${name} is not known`, { node: name });
  for (const group of groups.keys()) checkGroup(group, known);

  for (const node of [...input.nodes].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const target = targets.has(node.name);
    if (!target && !isConfigured(node)) continue;
    const group = node.hostGroup;
    const role = (group === undefined ? undefined : roles.get(group)) ?? 'none';
    try {
      if (group !== undefined) checkGroup(group, known);
      hosts.push(`${quote(node.name)}: ${hostVars(node, group, role, input)}`);
    } catch (error) {
      const failure = MusterError.from(error);
      if (target) throw failure;
      left.push({ node: node.name, reason: failure.message });
      continue;
    }
    if (group !== undefined) groups.set(group, [...(groups.get(group) ?? []), node.name]);
    byRole.get(`muster_role_${role}`)?.push(node.name);
  }

  const children = [...groups, ...byRole].map(
    ([name, members]) => `${quote(name)}: {hosts: {${members.map((m) => `${quote(m)}: {}`).join(', ')}}}`,
  );
  const text = `---\nall:\n  hosts: {${hosts.join(',\n    ')}}\n  children: {${children.join(',\n    ')}}\n`;
  return { text, left };
}

/** Where the node is reached: the management network, or its only one. */
function managementAddress(node: NodeRecord): string | undefined {
  return (node.networks[MANAGEMENT] ?? Object.values(node.networks)[0])?.address;
}

function hostVars(node: NodeRecord, group: string | undefined, role: string, o: InventoryInput): string {
  if (!NODE_NAME_PATTERN.test(node.name)) throw refused(node, 'its name is not one that Ansible takes');
  const address = managementAddress(node);
  if (address === undefined) throw refused(node, 'it has no address');
  if (!ADDRESS.test(address)) throw refused(node, `its address ${JSON.stringify(address)} is none`);
  checkVariables(node.vars, `node ${node.name}`);
  const vars = { ...node.vars, ...o.connection };
  const { ansible_user: user = o.user, ansible_port: port, muster_root: root = '', ...rest } = vars;
  if (typeof user !== 'string' || !USER.test(user)) throw refused(node, 'ansible_user is not a user name');
  if (port !== undefined && !isPort(port)) throw refused(node, 'ansible_port is not a port');
  if (typeof root !== 'string' || !/^(\/[A-Za-z0-9._/-]+)?$/.test(root) || root.split('/').includes('..'))
    throw refused(node, 'muster_root is not an absolute path of plain characters');
  const networks = Object.fromEntries(Object.entries(node.networks).map(([name, n]) => [name, n.address]));
  return ansibleYaml(
    {
      ansible_become: user !== 'root' && root === '',
      ...rest,
      ansible_host: address,
      ...(port === undefined ? {} : { ansible_port: Number(port) }),
      ansible_user: user,
      // The key is pinned for the node, not for an address that it may lose to another.
      ansible_ssh_extra_args: [
        `-o HostKeyAlias=${o.aliases?.get(node.name) ?? node.name}`,
        `-o StrictHostKeyChecking=${o.strict?.has(node.name) === true ? 'yes' : 'accept-new'}`,
      ].join(' '),
      // By these names content written for contiv's cluster manager knows a host.
      node_name: node.name,
      node_addr: address,
      muster_root: root,
      muster_node: node.name,
      muster_host_group: group ?? '',
      muster_role: role,
      muster_management_address: address,
      muster_networks: networks,
    },
    { trusted: false },
    `node ${node.name}`,
  );
}

const isPort = (x: unknown): boolean => /^[0-9]{1,5}$/.test(String(x)) && Number(x) >= 1 && Number(x) <= 65535;

/** Group names that Ansible or the inventory itself gives a meaning, or that would be taken for a host's. */
function checkGroup(group: string, nodes: ReadonlySet<string>): void {
  const clash = group === 'all' || group === 'ungrouped' || group.startsWith('muster_role_') || nodes.has(group);
  if (!NAME_PATTERN.test(group) || clash)
    throw new MusterError('BAD_REQUEST', `the host group ${JSON.stringify(group)} has a name that Ansible cannot use`, {
      hostGroup: group,
    });
}

const quote = (name: string): string => ansibleYaml(name, { trusted: true });

const refused = (node: NodeRecord, why: string): MusterError =>
  new MusterError('BAD_REQUEST', `node ${node.name}: ${why}`, { node: node.name });
