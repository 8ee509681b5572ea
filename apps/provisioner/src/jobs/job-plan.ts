import { MusterError, type ClusterSettings, type JobRecord, type NodeRecord } from '#contracts';
import { effectiveAnsible, type AnsibleConfig } from '#service';
import { isStrict, type HostKeys } from '../ansible/host-keys.js';
import { inventoryFile } from '../content/inventory-file.js';
import { masker, secretsOf } from '../content/masking.js';
import { variablesOfRun } from '../content/variables.js';
import type { Step } from '../ansible/ansible-events.js';
import { nodeAt, type PreparedInstall } from '../discover/prepare-install.js';

export interface PlanInput {
  job: JobRecord;
  nodes: NodeRecord[];
  settings: Pick<ClusterSettings, 'hostGroups' | 'globals' | 'ansible'>;
  /** Of this service's file; the settings go on top. */
  ansible: AnsibleConfig;
  /** Keys that hosts without any on record have shown in an earlier step, by the job's node or address. */
  learned?: ReadonlyMap<string, string[]>;
  /** Does the operator's own known_hosts know the name? */
  inFile?: (alias: string) => boolean;
}

/** What Ansible is given for one step of a job. */
export interface StepFiles {
  inventory: string;
  extraVars: string;
  /** Job's node (or address) → its name in the inventory. */
  hosts: Map<string, string>;
  /** Of every host in the inventory, by its name there. */
  hostKeys: Map<string, HostKeys>;
  left: { node: string; reason: string }[];
  mask: (text: string) => string;
}

export interface StepInput {
  step: Step;
  /** Of the job's nodes, those that the step is for. */
  nodes: readonly string[];
  /** Distinguishes the processes of this step on the nodes from those of every other. */
  run: string;
  recover?: NonNullable<JobRecord['recover']>;
  install?: PreparedInstall;
}

/** @throws BAD_REQUEST, NODE_UNKNOWN: the job cannot be carried out as it is */
export function stepFiles(plan: PlanInput, step: StepInput): StepFiles {
  const { job } = plan;
  const ansible = effectiveAnsible(plan.ansible, plan.settings.ansible);
  const discover = job.kind === 'discover';
  const nodes = discover ? step.nodes.map((address, i) => addressAsNode(address, i, plan.nodes)) : plan.nodes;
  const hosts = new Map(step.nodes.map((n, i) => [n, discover ? addressName(i) : n]));
  // A recovery renders nothing that looks at other hosts, and has no time to read a thousand of them.
  const inInventory = discover
    ? nodes
    : withGroup(nodes, job).filter((n) => step.step !== 'recover' || step.nodes.includes(n.name));
  const aliases = discover ? keyAliases(plan, step.nodes) : undefined;
  const hostKeys = hostKeysOf(plan, inInventory, hosts, aliases);
  const variables = variablesOfRun({
    configuration: plan.ansible.extraVars,
    settings: plan.settings.ansible.extraVars ?? {},
    globals: plan.settings.globals,
    request: job.extraVars,
    run: {
      muster_job: job.id,
      muster_run: step.run,
      ...(step.recover === undefined ? {} : { muster_recover: step.recover }),
      ...(step.install === undefined ? {} : installVars(step.install, hosts)),
    },
  });
  const inventory = inventoryFile({
    nodes: inInventory,
    hostGroups: plan.settings.hostGroups,
    targets: [...hosts.values()],
    user: ansible.user,
    connection: variables.connection,
    ...(aliases && { aliases }),
    strict: new Set([...hostKeys].filter(([, keys]) => isStrict(keys)).map(([name]) => name)),
  });
  const agents = [...(step.install?.tasks.values() ?? [])].map((t) => ({
    secret: [t.credentials?.seed, t.credentials?.jwt, t.datagramKeys],
  }));
  const secrets = [...agents, ansible.extraVars, plan.settings.globals, job.extraVars, ...nodes.map((n) => n.vars)];
  return {
    inventory: inventory.text,
    extraVars: variables.file,
    hosts,
    hostKeys,
    left: inventory.left,
    mask: masker(secrets.flatMap((vars) => secretsOf(vars))),
  };
}

/** All nodes of the job get its host group, also those that the step at hand is not for. */
function withGroup(nodes: NodeRecord[], job: JobRecord): NodeRecord[] {
  const { hostGroup } = job;
  if (hostGroup === undefined) return nodes;
  const own = new Set(job.nodes);
  return nodes.map((n) => (own.has(n.name) ? { ...n, hostGroup } : n));
}

/** An address may hold what a host's name may not (colons): it gets a name of its own. */
const addressName = (i: number): string => `address-${i}`;

/**
 * A node on record has its own keys. A host that nobody knows has none yet, whoever had its address before: they are
 * pinned for the length of this job, and for good with the node that it becomes.
 */
const keyAliases = (plan: PlanInput, addresses: readonly string[]): Map<string, string> =>
  new Map(addresses.map((a, i) => [addressName(i), nodeAt(plan.nodes, a)?.name ?? `${plan.job.id}.${a}`]));

function hostKeysOf(
  plan: PlanInput,
  nodes: readonly NodeRecord[],
  hosts: ReadonlyMap<string, string>,
  aliases?: ReadonlyMap<string, string>,
): Map<string, HostKeys> {
  const asked = new Map([...hosts].map(([node, host]) => [host, node]));
  return new Map(
    nodes.map(({ name, sshHostKeys = [] }) => {
      const alias = aliases?.get(name) ?? name;
      const pinned = sshHostKeys.length > 0 ? sshHostKeys : (plan.learned?.get(asked.get(name) ?? name) ?? []);
      return [name, { alias, pinned, inFile: plan.inFile?.(alias) === true }];
    }),
  );
}

const installVars = (install: PreparedInstall, hosts: ReadonlyMap<string, string>): Record<string, unknown> => ({
  muster_agents: Object.fromEntries([...hosts].map(([address, host]) => [host, install.tasks.get(address)])),
  muster_agent_archive: install.archive,
});

/** The effective variables of the job, before those of each node. */
export const runVariables = (plan: PlanInput): Record<string, unknown> => ({
  ...effectiveAnsible(plan.ansible, plan.settings.ansible).extraVars,
  ...plan.settings.globals,
  ...plan.job.extraVars,
});

function addressAsNode(address: string, i: number, known: readonly NodeRecord[]): NodeRecord {
  if (!/^[0-9A-Fa-f.:]+$/.test(address))
    throw new MusterError('BAD_REQUEST', `${JSON.stringify(address)} is not an IP address`, { address });
  return {
    name: addressName(i),
    label: 'address',
    serial: String(i),
    failureDomain: 'default',
    networks: { management: { address } },
    powerLevels: [],
    provisionDriver: 'ansible',
    vars: nodeAt(known, address)?.vars ?? {},
    sshHostKeys: nodeAt(known, address)?.sshHostKeys ?? [],
    fencing: 'manual',
    enrolled: false,
    status: 'Unallocated',
    prevStatus: 'Incomplete',
    state: 'Unknown',
    prevState: 'Unknown',
    createdAt: 0,
  };
}
