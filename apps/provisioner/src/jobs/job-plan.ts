import { MusterError, type ClusterSettings, type JobRecord, type NodeRecord } from '#contracts';
import { effectiveAnsible, type AnsibleConfig } from '#service';
import { isStrict, type HostKeys } from '../ansible/host-keys.js';
import { inventoryFile } from '../content/inventory-file.js';
import { masker, secretsOf } from '../diff/masking.js';
import { variablesOfRun } from '../content/variables.js';
import type { Step } from '../ansible/ansible-events.js';
import type { TestRun } from '../service-test/test-part.js';
import { testSubject, type TestSubject } from '../service-test/test-subject.js';
import type { ServicesOfRun } from '../ansible/ansible-run.js';
import { aloneAmong, onlyServices } from '../services/partial-resetup.js';
import type { Service } from '../services/service-folder.js';
import type { KnownSecrets } from '../diff/parts-folder.js';
import { nodeAt, type PreparedInstall } from '../discover/prepare-install.js';

export interface PlanInput {
  job: JobRecord;
  nodes: NodeRecord[];
  settings: Pick<ClusterSettings, 'hostGroups' | 'globals' | 'ansible'>;
  /** Of this service's file; the settings go on top. */
  ansible: AnsibleConfig;
  /** The operator's own, in order. @default none */
  services?: readonly Service[];
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
  /** Name in the inventory → host group; of those that have one. */
  hostGroups: Map<string, string>;
  /** Of every host in the inventory, by its name there. */
  hostKeys: Map<string, HostKeys>;
  left: { node: string; reason: string }[];
  /** Undefined where the step has nothing to do with any. */
  services?: ServicesOfRun;
  /** Values that are known to be secret. */
  secrets: KnownSecrets;
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
  /** service-test */
  test?: TestRun;
}

/** @throws BAD_REQUEST, NODE_UNKNOWN: the job cannot be carried out as it is */
export function stepFiles(plan: PlanInput, step: StepInput): StepFiles {
  const { job } = plan;
  const subject = step.test && subjectOf(plan);
  const ansible = effectiveAnsible(plan.ansible, plan.settings.ansible);
  const discover = job.kind === 'discover';
  const nodes = discover ? step.nodes.map((address, i) => addressAsNode(address, i, plan.nodes)) : plan.nodes;
  const hosts = new Map(step.nodes.map((n, i) => [n, discover ? addressName(i) : n]));
  // A recovery renders nothing that looks at other hosts, and has no time to read a thousand of them.
  const inInventory = discover
    ? nodes
    : withGroup(nodes, job.nodes, subject?.hostGroup ?? job.hostGroup).filter(
        (n) => step.step !== 'recover' || step.nodes.includes(n.name),
      );
  const aliases = discover ? keyAliases(plan, step.nodes) : undefined;
  const hostKeys = hostKeysOf(plan, inInventory, hosts, aliases);
  const services =
    subject === undefined
      ? servicesOfStep(plan, step, inInventory)
      : { all: [subject.service], expected: new Map<string, string[]>(), alone: [] };
  const only = WITH_SERVICES.includes(step.step) ? onlyServices(job, plan.services ?? []) : undefined;
  const variables = variablesOfRun({
    configuration: plan.ansible.extraVars,
    settings: plan.settings.ansible.extraVars ?? {},
    globals: plan.settings.globals,
    request: job.extraVars,
    run: {
      muster_job: job.id,
      muster_run: step.run,
      ...(services === undefined ? {} : { muster_services: services.all.map(serviceVars) }),
      ...(only === undefined || step.step === 'check' ? {} : { muster_only: only }),
      ...(step.recover === undefined ? {} : { muster_recover: step.recover }),
      ...(step.install === undefined ? {} : installVars(step.install, hosts)),
      ...(step.test === undefined ? {} : { muster_test: { files: [], ...step.test } }),
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
  const starts = [...(step.recover ?? []), ...(job.recover ?? [])].map((r) => r.spec);
  const defaults = services?.all.map((s) => s.defaults) ?? [];
  const ofAll = [ansible.extraVars, plan.settings.globals, job.extraVars, ...defaults];
  const secrets = [...agents, ...starts, ...ofAll, ...nodes.map((n) => n.vars)];
  const ownVars = new Map(nodes.map((n) => [n.name, n.vars]));
  return {
    inventory: inventory.text,
    extraVars: variables.file,
    hosts,
    hostGroups: new Map(inInventory.flatMap((n) => (n.hostGroup === undefined ? [] : [[n.name, n.hostGroup]]))),
    hostKeys,
    left: inventory.left,
    ...(services && { services }),
    secrets: {
      all: ofAll.flatMap((vars) => secretsOf(vars)),
      hosts: Object.fromEntries([...hosts.values()].map((host) => [host, secretsOf(ownVars.get(host))])),
    },
    mask: masker(secrets.flatMap((vars) => secretsOf(vars))),
  };
}

/** What a service-test is about. @throws MusterError CONFIG_INVALID, BAD_REQUEST */
export const subjectOf = ({ job, nodes, services = [] }: PlanInput): TestSubject =>
  testSubject(
    job,
    nodes.find((n) => n.name === job.nodes[0]),
    services,
  );

/** Steps that include them. */
const WITH_SERVICES: readonly Step[] = ['site', 'check', 'cleanup'];

function servicesOfStep(plan: PlanInput, step: StepInput, nodes: readonly NodeRecord[]): ServicesOfRun | undefined {
  const all = plan.services ?? [];
  if (all.length === 0 || !WITH_SERVICES.includes(step.step)) return undefined;
  const expected = nodes.map(({ name, hostGroup }): [string, string[]] => [
    name,
    all.filter((s) => hostGroup !== undefined && hostGroup in s.groups).map((s) => s.name),
  ]);
  const alone = aloneAmong(
    all,
    all.map((s) => s.name),
  );
  return { all, expected: new Map(expected), alone };
}

/** What the playbooks have to know of a service. */
const serviceVars = ({ name, version, groups, templates, files, variables }: Service): Record<string, unknown> => ({
  name,
  version,
  groups,
  templates,
  files,
  variables,
});

/** All nodes of the job get its host group, also those that the step at hand is not for. */
function withGroup(nodes: NodeRecord[], names: readonly string[], hostGroup: string | undefined): NodeRecord[] {
  if (hostGroup === undefined) return nodes;
  const own = new Set(names);
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
