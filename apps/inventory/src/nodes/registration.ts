import { isIP } from 'node:net';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import {
  MANAGEMENT,
  MusterError,
  NAME_PATTERN,
  NODE_NAME_PATTERN,
  nodeName,
  PowerDeviceRequest,
  type HostGroup,
  type NodeCreateRequest,
  type NodeRecord,
  type PowerDevice,
} from '#contracts';
import { newNode } from './new-node.js';

export interface Registration {
  node: NodeRecord;
  /** Passwords by the key of bucket `secrets` under which each is to be kept, sealed. */
  secrets: Record<string, string>;
}

export const secretKey = (node: string, device: string): string => `power=${node}=${device}`;

/** Names of hosts, addresses of either family: safe in an inventory, on a command line and in a log. */
const HOST = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;
const isAddress = (text: unknown): text is string => typeof text === 'string' && (isIP(text) !== 0 || HOST.test(text));

const bad = (message: string): MusterError => new MusterError('BAD_REQUEST', message);

/**
 * The record of a new node, and its passwords apart from it.
 * @throws MusterError BAD_REQUEST, HOST_GROUP_INVALID or ALREADY_EXISTS
 */
export function register(
  r: NodeCreateRequest,
  others: readonly NodeRecord[],
  groups: readonly HostGroup[],
  at: number,
): Registration {
  const name = nodeName(r.label, r.serial);
  if (!NAME_PATTERN.test(r.label) || !NAME_PATTERN.test(r.serial) || !NODE_NAME_PATTERN.test(name))
    throw bad('label and serial take letters, digits, dot, dash and underscore, 63 at most');
  if (r.hostGroup !== undefined && !groups.some((g) => g.name === r.hostGroup))
    throw new MusterError('HOST_GROUP_INVALID', `invalid host-group specified: "${r.hostGroup}"`, {
      hostGroup: r.hostGroup,
    });
  checkNetworks(r.networks);
  if (others.some((n) => n.name === name))
    throw new MusterError('ALREADY_EXISTS', `node ${name} is registered already`, { node: name });
  checkAddresses(r, others);
  const node = newNode(r, at);
  const secrets: Record<string, string> = {};
  node.powerLevels = readLevels(r.powerLevels ?? []).map((level) =>
    level.map(({ password, ...device }): PowerDevice => {
      if (password === undefined) return device;
      const key = secretKey(name, device.id);
      secrets[key] = password;
      return { ...device, secret: key };
    }),
  );
  return { node, secrets };
}

function checkNetworks(networks: NodeCreateRequest['networks']): void {
  const entries = Object.entries(networks ?? {});
  if (entries.length < 1 || entries.length > 4) throw bad('a node has one to four networks');
  if (networks[MANAGEMENT] === undefined) throw bad(`one of the networks must be "${MANAGEMENT}": ssh goes there`);
  for (const [name, network] of entries) {
    if (!NAME_PATTERN.test(name)) throw bad(`"${name}" cannot be the name of a network`);
    if (!isAddress(network?.address)) throw bad(`network ${name} needs an address: an IP address or a host name`);
  }
}

/** Two nodes with one address could be taken for each other, by agents and by Ansible. */
function checkAddresses(r: NodeCreateRequest, others: readonly NodeRecord[]): void {
  for (const [network, { address }] of Object.entries(r.networks)) {
    const taken = others.find((n) => n.networks[network]?.address === address);
    if (taken)
      throw new MusterError('ALREADY_EXISTS', `node ${taken.name} has the address ${address} on ${network} already`, {
        node: taken.name,
        address,
        network,
      });
  }
}

function readLevels(levels: readonly unknown[]): PowerDeviceRequest[][] {
  const ids = new Set<string>();
  return levels.map((level) => {
    if (!Array.isArray(level) || level.length === 0) throw bad('each power level is a list of at least one device');
    return level.map((given: unknown) => {
      const device = plainToInstance(PowerDeviceRequest, given);
      const wrong = validateSync(device, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true });
      const first = wrong[0];
      if (first) throw bad(`power device: ${Object.values(first.constraints ?? {})[0] ?? first.property}`);
      const texts = Object.values(device.options ?? {}).every((v) => typeof v === 'string');
      if (!texts) throw bad(`power device ${device.id}: options must be texts`);
      if (ids.has(device.id)) throw bad(`two power devices are called ${device.id}`);
      ids.add(device.id);
      return { ...device };
    });
  });
}
