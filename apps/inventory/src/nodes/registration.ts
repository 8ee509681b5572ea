import {
  MusterError,
  NAME_PATTERN,
  NODE_NAME_PATTERN,
  nodeName,
  unmasked,
  type NodeCreateRequest,
  type NodeRecord,
} from '#contracts';
import { newNode } from './new-node.js';
import {
  bad,
  checkAddresses,
  checkDrivers,
  checkHostGroup,
  checkNetworks,
  checkVars,
  type RuleFacts,
} from './node-rules.js';
import { recordedDevices } from './power-devices.js';
import { checkPlaces } from '../power/power-place.js';

export interface Registration {
  node: NodeRecord;
  /** Passwords by the key of bucket `secrets` under which each is to be kept, sealed. */
  secrets: Record<string, string>;
}

/**
 * The record of a new node, and its passwords apart from it. `nonce` makes the keys of the passwords its own. Drivers
 * of the node `before`, in whose place it comes, need not be on offer.
 * @throws MusterError BAD_REQUEST, HOST_GROUP_INVALID, ALREADY_EXISTS, NO_WORKERS, DRIVER_UNKNOWN or DRIVER_UNAVAILABLE
 */
export function register(
  r: NodeCreateRequest,
  facts: RuleFacts,
  at: number,
  nonce: string,
  before?: NodeRecord,
): Registration {
  const name = nodeName(r.label, r.serial);
  if (!NAME_PATTERN.test(r.label) || !NAME_PATTERN.test(r.serial) || !NODE_NAME_PATTERN.test(name))
    throw bad('label and serial take letters, digits, dot, dash and underscore, 63 at most');
  if (r.hostGroup !== undefined) checkHostGroup(r.hostGroup, facts.groups);
  checkNetworks(r.networks ?? {});
  if (facts.fleet.has(name))
    throw new MusterError('ALREADY_EXISTS', `node ${name} is registered already`, { node: name });
  checkAddresses(name, r.networks, facts.fleet);
  const vars = unmasked(r.vars ?? {}, before?.vars ?? {}, 'vars', 'BAD_REQUEST');
  checkVars(vars, name);
  const { powerLevels, secrets } = recordedDevices(name, r.powerLevels ?? [], nonce, {
    before: before?.powerLevels.flat() ?? [],
  });
  checkPlaces(name, powerLevels, facts.fleet.places());
  const node = { ...newNode({ ...r, vars }, at), powerLevels };
  checkDrivers(node, facts.offered, before);
  return { node, secrets };
}
