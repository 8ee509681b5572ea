import {
  isSerial,
  MANAGEMENT,
  MusterError,
  nodeName,
  type Networks,
  type NodeRecord,
  type NodeStatus,
  type RpcRequest,
} from '#contracts';
import { bad, checkAddresses, checkNetworks, type RuleFacts } from '../nodes/node-rules.js';
import { register } from '../nodes/registration.js';
import { withHardware } from '../identity/with-hardware.js';
import { refuseSecondNode } from './other-node-of-machine.js';

export type EnrolRequest = Omit<RpcRequest<'inventory.agents.enrol'>, 'by'>;

export interface EnrolFacts extends RuleFacts {
  /** All that are on record. */
  nodes: readonly NodeRecord[];
}

/** Nothing of the cluster rests on such a node: its addresses may be those that it is found at. */
const FREE: readonly NodeStatus[] = ['Unallocated', 'Decommissioned'];
export const isFree = (n: NodeRecord): boolean => FREE.includes(n.status) && n.state !== 'Discovered';

const HOST_KEY = /^[a-z0-9@.-]{1,64} [A-Za-z0-9+/]{16,2000}={0,2}$/;

/**
 * The record of a machine that was found: a new one, or the one that it has already. Undefined: the record stays as it
 * is. It becomes a member only when its agent is there ({@link arrived}): where an installation fails, a node that can
 * never be heard would count for the majority that must be, and blind the monitor.
 * @throws MusterError BAD_REQUEST; ALREADY_EXISTS where it may be another machine than the one on record, or
 * is another node
 */
export function enrolledNode(
  r: EnrolRequest,
  current: NodeRecord | undefined,
  facts: EnrolFacts,
  at: number,
): NodeRecord | undefined {
  const hostKeys = [...new Set(r.hostKeys ?? [])].sort();
  if (!hostKeys.every((key) => HOST_KEY.test(key)))
    throw bad('hostKeys are public keys as in known_hosts, without a name');
  const productSerial = r.productSerial !== undefined && isSerial(r.productSerial) ? r.productSerial : undefined;
  refuseSecondNode(r, current, facts.nodes);
  if (current === undefined) {
    const { node } = register(
      { label: r.label, serial: r.serial, networks: r.networks, enrolled: false },
      facts,
      at,
      '',
    );
    return {
      ...withHardware(node, r.hardware, at),
      awaited: true,
      ...(hostKeys.length > 0 && { sshHostKeys: hostKeys }),
      ...(r.machine !== undefined && { machine: r.machine }),
      ...(productSerial !== undefined && { productSerial }),
    };
  }
  const next: NodeRecord = { ...withHardware(current, r.hardware, at), networks: networksOf(r, current, facts) };
  if (!current.enrolled) next.awaited = true;
  if (r.machine !== undefined) next.machine = machineOn(current, r.machine);
  if (productSerial !== undefined) next.productSerial = productSerial;
  const pinned = current.sshHostKeys ?? [];
  if (pinned.length === 0 && hostKeys.length > 0) next.sshHostKeys = hostKeys;
  if (pinned.length > 0 && hostKeys.length > 0 && !pinned.some((key) => hostKeys.includes(key)))
    throw new MusterError(
      'ALREADY_EXISTS',
      `the host answers as ${current.name}, but with other ssh host keys than are pinned for it: have them forgotten where it was installed anew`,
      { node: current.name },
    );
  return JSON.stringify(next) === JSON.stringify(current) ? undefined : next;
}

/**
 * A machine that serves keeps what is on record: one that shows the same name elsewhere may be a copy of it, and the
 * workloads of the first would start on both.
 */
function networksOf(r: EnrolRequest, current: NodeRecord, facts: RuleFacts): Networks {
  const [was, is] = [current.networks[MANAGEMENT]?.address, r.networks[MANAGEMENT]?.address];
  if (was !== is && !isFree(current))
    throw new MusterError(
      'ALREADY_EXISTS',
      `the host at ${is} answers as ${current.name}, which is ${current.status} and ${current.state} at ${was}: one of the two is a copy, or ${current.name} has moved; then edit its networks first`,
      { node: current.name, address: was, found: is },
    );
  if (!isFree(current)) return current.networks;
  const networks = { ...current.networks, ...r.networks };
  checkNetworks(networks);
  checkAddresses(current.name, networks, facts.fleet);
  return networks;
}

/** A node that is heard cannot be another installation as well. */
function machineOn(current: NodeRecord, machine: string): string {
  if (current.machine !== undefined && current.machine !== machine && current.state === 'Discovered')
    throw new MusterError(
      'ALREADY_EXISTS',
      `the host answers as ${current.name}, which is heard, and runs on another machine: give one of the two another host name`,
      { node: current.name },
    );
  return machine;
}

/** Users of an agent that are good at once: the one that is issued, and those that its host may not have replaced yet. */
const KEPT_KEYS = 4;

/** With the user that is issued to its agent now; the oldest beyond four are worthless. */
export function withAgentKey(node: NodeRecord, key: string): NodeRecord {
  const { revoked: _over, ...rest } = node;
  const others = (node.agentKeys ?? []).filter((k) => k !== key);
  return { ...rest, agentKeys: [...others, key].slice(-KEPT_KEYS) };
}

/**
 * Whether a write may have made a second node of its machine, beside one that was written at the same time.
 * `before`: undefined for a new one.
 */
export const mayBeSecond = (before: NodeRecord | undefined, after: NodeRecord): boolean =>
  after.awaited === true || after.machine !== before?.machine;

/** What an enrolment writes. */
const WRITTEN: readonly string[] = [
  'networks',
  'awaited',
  'machine',
  'productSerial',
  'hardware',
  'sshHostKeys',
  'agentKeys',
  'revoked',
] satisfies (keyof NodeRecord)[];

/**
 * As it was before the enrolment that has issued `key`; what that does not write stays as it is now. Undefined: it stays
 * as it is, since the enrolment was undone already, or its agent has come.
 */
export function withoutEnrolment(now: NodeRecord, before: NodeRecord, key: string): NodeRecord | undefined {
  if (!isLeftBy(key, before, now)) return undefined;
  const others = Object.entries(now).filter(([field]) => !WRITTEN.includes(field));
  const was = Object.entries(before).filter(([field]) => WRITTEN.includes(field));
  return Object.fromEntries([...others, ...was]) as NodeRecord;
}

/** Whether a record is still what the enrolment that has made it, and issued `key`, left. */
export const isLeftover = (now: NodeRecord, key: string): boolean => isLeftBy(key, undefined, now) && isFree(now);

const isLeftBy = (key: string, before: NodeRecord | undefined, now: NodeRecord): boolean =>
  now.agentKeys?.includes(key) === true && now.enrolled === (before?.enrolled === true);

/** Its agent has asked for its peers: from now on it is a member. Undefined: nobody was waited for. */
export function arrived(node: NodeRecord): NodeRecord | undefined {
  const { awaited, ...rest } = node;
  return awaited === undefined ? undefined : { ...rest, enrolled: true };
}

export const enrolledName = (r: EnrolRequest): string => nodeName(r.label, r.serial);
