import { isIP } from 'node:net';
import {
  managementAddress,
  MusterError,
  type Hold,
  type HostGroup,
  type JobKind,
  type JobRecord,
  type NodeRecord,
  type Reservations,
} from '#contracts';
import { brokenTurn, takesDown } from '#domain/return/turn.js';
import { refusedStart, statusDuring } from '../nodes/node-status.js';
import { brokenRoleRule, type RoledNode } from './role-rules.js';

/** More than this many waiting jobs, and a request is refused. */
export const MOST_QUEUED = 100;

export interface AdmissionRequest {
  kind: Exclude<JobKind, 'recover'>;
  nodes: string[];
  addresses: string[];
  /** discover: addresses of nodes that are known already are left out, unless all are. */
  skipKnown?: boolean;
  hostGroup?: string;
  /** service-test: the one that is tested. */
  service?: string;
  force?: boolean;
  /** An operator's word that masters may be taken down side by side, or the last that serves. */
  atOnce?: boolean;
  /**
   * The system's own: a claim of a scheduler does not stand against it. It says whether a node still needs the job:
   * the system saw it in views that follow by moments each, in which a node may be free before it shows what its last
   * job has made of it.
   */
  needs?: (node: NodeRecord) => boolean;
  /** The system's own: the workload is assigned to the node, certainly does not run there, and its start gate is shut. */
  isAbsent?: (node: string, workload: string) => boolean;
}

/** All that the decision rests on, as read for it. */
export interface AdmissionFacts {
  /** By name; masters first make the rules over several nodes cheap. */
  nodes: Pick<ReadonlyMap<string, NodeRecord>, 'get' | 'values'>;
  held: Reservations['held'];
  groups: readonly HostGroup[];
  /** To name the job that holds a node. */
  job(id: string): Pick<JobRecord, 'kind' | 'status'> | undefined;
  workloadsOn(node: string): string[];
  /** That run there by the node's own word, and are assigned elsewhere or nowhere. */
  straysOn(node: string): string[];
  /** Nodes whose power was switched, or may have been, so recently that they must be left alone; with the reason. */
  quarantined(node: string): string | undefined;
  queuedJobs: number;
  /** Drivers that live provisioners offer; undefined: not known, which counts as none. */
  provisionDrivers: readonly string[] | undefined;
}

/** All of these nodes are to be held by the job. For `discover` they are the known nodes behind its addresses. */
export interface Admitted {
  nodes: string[];
  /** `force`: workloads that have to leave these nodes before the job may begin. */
  moving?: string[];
  /** discover: where it goes to. */
  addresses?: string[];
  /** discover: addresses that were left out, and the node that each is already. */
  skipped?: Record<string, string>;
}

/**
 * May this request start as one job? The order of the checks and the sentences are those of the operations contract.
 * @throws MusterError the first check that fails; nothing has changed then
 */
export function admit(request: AdmissionRequest, facts: AdmissionFacts): Admitted {
  if (request.kind === 'discover') return admitDiscover(request, facts);
  const { kind, hostGroup } = request;
  if (request.nodes.length === 0) throw new MusterError('BAD_REQUEST', 'atleast one node should be specified');
  const nodes = resolve(request.nodes, facts.nodes);
  const names = nodes.map((n) => n.name);

  const silent = nodes.filter((n) => n.state !== 'Discovered').map((n) => n.name);
  if (silent.length > 0)
    throw new MusterError(
      'NOT_DISCOVERED',
      `one or more nodes are not in discovered state, please check their network reachability. Non-discovered nodes: [${silent.join(' ')}]`,
      { nodes: silent },
    );
  checkHostGroup(kind, hostGroup, facts.groups);

  const requested = nodes.map((n) => asAdmitted(n, facts.held));
  const rule = brokenRoleRule(kind, hostGroup, requested, () => others(names, facts), facts.groups);
  if (rule) throw rule;
  checkReserved(request, names, facts);
  checkNeeded(request, nodes);
  if (kind === 'service-test') checkServiceTest(request, nodes);
  // A commission of what serves is refused for its status, in the contract's words; workloads are what its rollback meets.
  const moved = kind === 'commission' ? undefined : checkWorkloads(request, names, facts);
  checkQuarantine(kind, names, facts);
  checkQueue(facts);
  for (const node of nodes) {
    const refused = refusedStart(node, kind);
    if (refused) throw refused;
  }
  const moving = moved ?? checkWorkloads(request, names, facts);
  checkTurn(request, nodes, facts);
  checkDrivers(nodes, facts.provisionDrivers);
  return moving.length > 0 ? { nodes: names, moving } : { nodes: names };
}

function admitDiscover(request: AdmissionRequest, facts: AdmissionFacts): Admitted {
  if (request.addresses.length === 0) throw new MusterError('BAD_REQUEST', 'atleast one address should be specified');
  const bad = request.addresses.filter((a) => isIP(a) === 0);
  if (bad.length > 0)
    throw new MusterError('BAD_REQUEST', `invalid address specified, not an IP address: [${bad.join(' ')}]`, {
      addresses: bad,
    });
  const known = [...facts.nodes.values()].filter((n) => request.addresses.includes(managementAddress(n)));
  // One whose agent never came was not discovered: its installation has failed.
  const existing = known.filter((n) => n.state !== 'Disappeared' && n.awaited === undefined);
  const skipped = Object.fromEntries(existing.map((n) => [managementAddress(n), n.name]));
  const addresses = request.addresses.filter((a) => !Object.hasOwn(skipped, a));
  if (existing.length > 0 && (request.skipKnown !== true || addresses.length === 0))
    throw new MusterError(
      'ALREADY_EXISTS',
      `one or more nodes already exist with the specified management addresses. Existing nodes: [${existing
        .map((n) => `${n.name}:${managementAddress(n)}`)
        .join(' ')}]`,
      { nodes: existing.map((n) => n.name) },
    );
  const names = known.filter((n) => !existing.includes(n)).map((n) => n.name);
  checkReserved(request, names, facts);
  checkQueue(facts);
  if (facts.provisionDrivers === undefined || facts.provisionDrivers.length === 0) throw noWorkers();
  return existing.length > 0 ? { nodes: names, addresses, skipped } : { nodes: names };
}

/** By name, else by management address; each node once, in the order of the request. */
function resolve(wanted: readonly string[], nodes: AdmissionFacts['nodes']): NodeRecord[] {
  const found = new Map<string, NodeRecord>();
  for (const w of wanted) {
    const node = nodes.get(w) ?? behind(w, nodes);
    if (!node) throw new MusterError('NODE_UNKNOWN', `node with name or address "${w}" doesn't exists`, { node: w });
    found.set(node.name, node);
  }
  return [...found.values()];
}

function behind(address: string, nodes: AdmissionFacts['nodes']): NodeRecord | undefined {
  for (const n of nodes.values()) if (managementAddress(n) === address) return n;
  return undefined;
}

function checkHostGroup(kind: JobKind, hostGroup: string | undefined, groups: readonly HostGroup[]): void {
  const known = groups.some((g) => g.name === hostGroup);
  if (known) return;
  if (kind === 'commission')
    throw new MusterError('HOST_GROUP_INVALID', `invalid or empty host-group specified: "${hostGroup ?? ''}"`, {
      hostGroup: hostGroup ?? '',
    });
  if (hostGroup !== undefined && hostGroup !== '')
    throw new MusterError('HOST_GROUP_INVALID', `invalid host-group specified: "${hostGroup}"`, { hostGroup });
}

/** A held node as the job that holds it will have it: its record may not have followed yet. */
function asAdmitted(n: NodeRecord, held: Reservations['held']): RoledNode {
  const hold = held[n.name];
  const status = hold?.kind && statusDuring(hold.kind);
  if (hold === undefined || status === undefined) return n;
  const hostGroup = hold.hostGroup ?? n.hostGroup;
  return { name: n.name, status, state: n.state, ...(hostGroup === undefined ? {} : { hostGroup }) };
}

function* others(names: readonly string[], facts: AdmissionFacts): Generator<RoledNode> {
  const requested = new Set(names);
  for (const n of facts.nodes.values()) if (!requested.has(n.name)) yield asAdmitted(n, facts.held);
}

function checkReserved(request: AdmissionRequest, names: readonly string[], facts: AdmissionFacts): void {
  const standsAgainst = (n: string): boolean => {
    const hold = facts.held[n];
    return hold !== undefined && !(request.needs !== undefined && hold.job === undefined && hold.edit === undefined);
  };
  const taken = names.filter(standsAgainst);
  const hold = taken[0] === undefined ? undefined : facts.held[taken[0]];
  if (!hold) return;
  const same = taken.filter((n) => facts.held[n]?.job === hold.job && facts.held[n]?.claim === hold.claim);
  if (hold.job === undefined) throw heldOtherwise(hold, same);
  const job = facts.job(hold.job);
  throw new MusterError(
    'NODE_RESERVED',
    `there is already an active job, please try in sometime. Job: [id: ${hold.job} task: ${job?.kind ?? hold.kind ?? ''} status: ${job?.status ?? 'Queued'}] Nodes: [${taken.join(' ')}]`,
    { job: hold.job, nodes: taken },
  );
}

/** Not by a job: there is nothing that will end by itself soon. */
function heldOtherwise(hold: Hold, nodes: string[]): MusterError {
  return hold.claim === undefined
    ? new MusterError('NODE_RESERVED', `an edit of several nodes is being written. Nodes: [${nodes.join(' ')}]`, {
        edit: hold.edit,
        nodes,
      })
    : new MusterError(
        'NODE_RESERVED',
        `one or more nodes are claimed: release the claim, or wait for its end. Claim: [id: ${hold.claim}] Nodes: [${nodes.join(' ')}]`,
        { claim: hold.claim, nodes },
      );
}

/** Whose masters go down at once is for an operator to say; the system never does. */
function checkTurn(request: AdmissionRequest, nodes: readonly NodeRecord[], facts: AdmissionFacts): void {
  const { kind, atOnce, needs } = request;
  if (!takesDown(kind) || (atOnce === true && needs === undefined)) return;
  const broken = brokenTurn(kind, nodes, { ...facts, nodes: facts.nodes.values() });
  if (broken === undefined) return;
  if (needs !== undefined) throw new MusterError('ROLE_RULE', broken);
  const remedy = 'ask for one when the other serves again, or for all of it at once (atOnce, --at-once)';
  throw new MusterError('ROLE_RULE', `${broken}: ${remedy}`, { nodes: nodes.map((n) => n.name) });
}

function checkNeeded({ kind, needs }: AdmissionRequest, nodes: readonly NodeRecord[]): void {
  const past = nodes.find((n) => needs?.(n) === false);
  if (past) throw new MusterError('REVISION_CONFLICT', `${past.name} needs no ${kind} any more`, { node: past.name });
}

/**
 * It takes a service away from the node, so it is for one on which nothing is set up: no way leads from there into
 * service but a commission, whatever becomes of the test.
 */
function checkServiceTest({ service, force }: AdmissionRequest, nodes: readonly NodeRecord[]): void {
  const [node, ...more] = nodes;
  if (service === undefined)
    throw new MusterError('BAD_REQUEST', 'service-test needs the name of a service: "service"');
  if (node === undefined || more.length > 0)
    throw new MusterError('BAD_REQUEST', 'service-test is for one node: give one');
  if (force === true)
    throw new MusterError('BAD_REQUEST', 'service-test moves no workloads: it takes a node without any, not "force"');
  const refused = refusedStart(node, 'service-test');
  if (refused) throw refused;
}

/** Whether the cleanup playbook runs on the nodes, or may: that of a commission does where its site fails. */
export const cleansUp = (kind: JobKind): boolean =>
  ['commission', 'decommission', 'maintenance', 'resetup', 'service-test'].includes(kind);

/** A cleanup never runs under a workload. @returns with `force`, those that are to be moved away first */
function checkWorkloads(request: AdmissionRequest, names: readonly string[], facts: AdmissionFacts): string[] {
  if (!cleansUp(request.kind)) return [];
  // No order of Muster ends those: nobody would know which of the two is to go on.
  const strays = having(names, (node) => facts.straysOn(node));
  if (strays.length > 0)
    throw new MusterError(
      'WORKLOADS_PRESENT',
      `one or more nodes run workloads that are not assigned to them, end them there by hand first. Workloads: [${listed(strays)}]`,
      { nodes: strays },
    );
  const busy = having(names, (node) => facts.workloadsOn(node).filter((w) => request.isAbsent?.(node, w) !== true));
  if (busy.length === 0) return [];
  if (request.force === true) return busy.flatMap((b) => b.workloads).sort();
  throw new MusterError(
    'WORKLOADS_PRESENT',
    `one or more nodes run workloads, move or delete them first, or have them moved by "force". Workloads: [${listed(busy)}]`,
    { nodes: busy },
  );
}

interface WithWorkloads {
  node: string;
  workloads: string[];
}

/** Of these nodes those that have any. */
const having = (nodes: readonly string[], workloadsOf: (node: string) => string[]): WithWorkloads[] =>
  nodes.map((node) => ({ node, workloads: workloadsOf(node) })).filter((n) => n.workloads.length > 0);

const listed = (nodes: readonly WithWorkloads[]): string =>
  nodes.map((n) => `${n.node}: ${n.workloads.join(' ')}`).join(', ');

/** A power command may still take effect: a set-up that it cuts short would leave half a configuration. */
function checkQuarantine(kind: JobKind, names: readonly string[], facts: AdmissionFacts): void {
  if (kind === 'check') return;
  for (const node of names) {
    const reason = facts.quarantined(node);
    if (reason !== undefined)
      throw new MusterError('NODE_BUSY', `${node} must be left alone for now: ${reason}`, { node });
  }
}

function checkQueue(facts: AdmissionFacts): void {
  if (facts.queuedJobs > MOST_QUEUED)
    throw new MusterError('TOO_MANY_JOBS', 'too many queued jobs', { queued: facts.queuedJobs });
}

function checkDrivers(nodes: readonly NodeRecord[], offered: readonly string[] | undefined): void {
  if (offered === undefined || offered.length === 0) throw noWorkers(nodes);
  const without = nodes.filter((n) => !offered.includes(n.provisionDriver));
  const first = without[0];
  if (!first) return;
  throw new MusterError(
    'DRIVER_UNAVAILABLE',
    `no live provisioner offers driver "${first.provisionDriver}" of ${without.map((n) => n.name).join(', ')}; on offer: [${offered.join(' ')}]`,
    { driver: first.provisionDriver, nodes: without.map((n) => n.name), offered },
  );
}

const noWorkers = (nodes: readonly NodeRecord[] = []): MusterError => {
  const drivers = [...new Set(nodes.map((n) => n.provisionDriver))];
  return new MusterError(
    'NO_WORKERS',
    nodes.length === 0
      ? 'no provisioner is alive; on offer: []'
      : `no provisioner is alive for driver ${drivers.map((d) => `"${d}"`).join(', ')} of ${nodes.map((n) => n.name).join(', ')}; on offer: []`,
    { nodes: nodes.map((n) => n.name), drivers, offered: [] },
  );
};
