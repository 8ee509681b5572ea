import { isIP } from 'node:net';
import {
  checkVariables,
  MANAGEMENT,
  MusterError,
  NAME_PATTERN,
  type HostGroup,
  type Networks,
  type NodeRecord,
} from '#contracts';
import { checkDriver } from './driver-check.js';
import { placeBook, type AddressesOf, type PlaceBook } from '../power/power-place.js';

/** What a node may be, whichever way it is registered or edited. */

/** The other nodes, as far as a rule asks for them. */
export interface Fleet {
  has(name: string): boolean;
  /** Node that has the address on this network. */
  holderOf(network: string, address: string): string | undefined;
  /** Where their power devices are. */
  places(): PlaceBook;
}

/** Drivers that live workers of a service offer; undefined: not known. */
export type Offered = (service: 'provisioner' | 'fencer') => readonly string[] | undefined;

export interface RuleFacts {
  fleet: Fleet;
  groups: readonly HostGroup[];
  offered: Offered;
}

/** Of two with one address the first counts: none should have been let in. */
export function fleetOf(
  nodes: readonly (Pick<NodeRecord, 'name' | 'networks'> & Partial<Pick<NodeRecord, 'powerLevels'>>)[],
  addressesOf?: AddressesOf,
): Fleet {
  const names = new Set<string>();
  const holders = new Map<string, string>();
  for (const { name, networks } of nodes) {
    names.add(name);
    for (const [network, { address }] of Object.entries(networks)) {
      const place = `${network} ${address}`;
      if (!holders.has(place)) holders.set(place, name);
    }
  }
  let book: PlaceBook | undefined;
  return {
    has: (name) => names.has(name),
    holderOf: (network, address) => holders.get(`${network} ${address}`),
    places: () => (book ??= placeBook(nodes, addressesOf)),
  };
}

export const bad = (message: string): MusterError => new MusterError('BAD_REQUEST', message);

export function checkHostGroup(hostGroup: string, groups: readonly HostGroup[]): void {
  if (!groups.some((g) => g.name === hostGroup))
    throw new MusterError('HOST_GROUP_INVALID', `invalid host-group specified: "${hostGroup}"`, { hostGroup });
}

/** Names of hosts, addresses of either family: safe in an inventory, on a command line and in a log. */
const HOST = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;
const isAddress = (text: unknown): text is string => typeof text === 'string' && (isIP(text) !== 0 || HOST.test(text));

export function checkNetworks(networks: Networks): void {
  const entries = Object.entries(networks);
  if (entries.length < 1 || entries.length > 4) throw bad('a node has one to four networks');
  if (networks[MANAGEMENT] === undefined) throw bad(`one of the networks must be "${MANAGEMENT}": ssh goes there`);
  for (const [name, network] of entries) {
    if (!NAME_PATTERN.test(name)) throw bad(`"${name}" cannot be the name of a network`);
    if (!isAddress((network as { address?: unknown } | null)?.address))
      throw bad(`network ${name} needs an address: an IP address or a host name`);
  }
}

/** Two nodes with one address could be taken for each other, by agents and by Ansible. */
export function checkAddresses(name: string, networks: Networks, fleet: Fleet): void {
  for (const [network, { address }] of Object.entries(networks)) {
    const node = fleet.holderOf(network, address);
    if (node !== undefined && node !== name)
      throw new MusterError('ALREADY_EXISTS', `node ${node} has the address ${address} on ${network} already`, {
        node,
        address,
        network,
      });
  }
}

/** Levels of nesting in a value, at most: whatever reads it later recurses. */
const DEEPEST = 32;

export function checkVars(vars: Record<string, unknown>, node: string): void {
  checkVariables(vars, `node ${node}`);
  checkValue(vars, 0);
}

function checkValue(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > DEEPEST) throw bad(`a variable is nested more than ${DEEPEST} levels deep`);
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__') throw bad('"__proto__" is no name within a variable');
    checkValue(inner, depth + 1);
  }
}

type Driven = Pick<NodeRecord, 'provisionDriver' | 'powerLevels'>;

/** Drivers that the node did not have `before` must be on offer. */
export function checkDrivers(node: Driven, offered: Offered, before?: Driven): void {
  if (node.provisionDriver !== before?.provisionDriver)
    checkDriver('provisioner', node.provisionDriver, offered('provisioner'));
  const had = new Set(before ? powerDrivers(before) : []);
  for (const driver of powerDrivers(node)) if (!had.has(driver)) checkDriver('fencer', driver, offered('fencer'));
}

export const powerDrivers = (n: Pick<NodeRecord, 'powerLevels'>): string[] => [
  ...new Set(n.powerLevels.flat().map((d) => d.driver)),
];

/** Edits rest on what their author has seen. */
export function checkRevision(node: string, current: number, wanted: number | undefined): void {
  if (wanted !== undefined && wanted !== current)
    throw new MusterError('REVISION_CONFLICT', `${node} has changed: its revision is ${current}`, {
      node,
      revision: current,
    });
}
