import { isDeepStrictEqual } from 'node:util';
import {
  MusterError,
  phaseText,
  POWER_QUARANTINE_MS,
  unmasked,
  type Hold,
  type HostGroup,
  type IncidentRecord,
  type NodePatchRequest,
  type NodeRecord,
  type PowerDevice,
  type PowerDeviceRequest,
} from '#contracts';
import { isInUse, roleOf } from '#domain/node/roles.js';
import { withoutNulls } from '../nodes/new-node.js';
import {
  bad,
  checkAddresses,
  checkDrivers,
  checkHostGroup,
  checkNetworks,
  checkVars,
  type RuleFacts,
} from '../nodes/node-rules.js';
import { recordedDevices, samePlace, storedSecret } from '../nodes/power-devices.js';
import { isHeld } from '../power/collateral.js';
import { checkPlaces } from '../power/power-place.js';

/** What an operator may change of a node that is registered. */
const EditableFields = [
  'hostGroup',
  'failureDomain',
  'networks',
  'powerLevels',
  'provisionDriver',
  'vars',
  'fencing',
  'sshHostKeys',
] as const;
export type EditableField = (typeof EditableFields)[number];

/** A patch whose passwords stand elsewhere: a device without a `secret` keeps the one that its id has. */
export type RecordPatch = Omit<NodePatchRequest, 'powerLevels'> & { powerLevels?: PowerDevice[][] | null };

export interface NodeEdit {
  patch: RecordPatch;
  /** What it changes. */
  fields: EditableField[];
  /** New passwords by the key of bucket `secrets` under which each is to be kept, sealed. */
  secrets: Record<string, string>;
}

export interface EditFacts extends RuleFacts {
  hold?: Hold | undefined;
  /** The node's incident, where one is open. */
  incident?: Pick<IncidentRecord, 'id' | 'phase' | 'gate' | 'collateral'> | undefined;
  /** No command to its power devices is under way, nor may one still take effect. */
  powerAtRest?: boolean;
  /** Does this password stand under the key already? */
  isStored: (secret: string, password: string) => boolean;
}

/**
 * May the node be edited so? `nonce` makes the keys of new passwords their own.
 * @returns undefined where nothing would change
 * @throws MusterError with the first rule that stands against it
 */
export function editNode(node: NodeRecord, p: NodePatchRequest, facts: EditFacts, nonce: string): NodeEdit | undefined {
  const { patch, secrets } = withoutPasswords(node, withStoredVars(node, p), facts, nonce);
  if (patch.networks === null) throw bad('networks cannot be removed: a node needs its management network');
  if (patch.sshHostKeys !== undefined && patch.sshHostKeys !== null)
    throw bad('sshHostKeys takes null only: the next contact pins what the node shows');
  if (patch.vars) checkVars(patch.vars, node.name);
  const after = patched(node, patch);
  const fields = EditableFields.filter((f) => !isSame(node[f], after[f]));
  if (fields.length === 0) return undefined;
  const changes = (...of: EditableField[]): boolean => of.some((f) => fields.includes(f));

  if (changes('hostGroup')) checkGroupChange(node, after.hostGroup, facts.groups);
  if (changes('networks')) {
    checkNetworks(after.networks);
    checkAddresses(node.name, after.networks, facts.fleet);
  }
  if (changes('powerLevels')) checkPlaces(node.name, after.powerLevels, facts.fleet.places());
  checkHolder(node.name, facts.hold, changes('hostGroup', 'networks', 'powerLevels', 'provisionDriver'));
  if (facts.incident && changes('networks', 'provisionDriver')) throw busy(node.name, facts.incident);
  if (facts.incident && changes('powerLevels') && !mayCorrect(facts.incident, facts.powerAtRest === true))
    throw busy(node.name, facts.incident);
  checkDrivers(after, facts.offered, node);
  return { patch, fields, secrets };
}

/** Nothing acts on its devices then, and what is wrong with them may be why the incident does not go on. */
const mayCorrect = (i: Pick<IncidentRecord, 'phase' | 'collateral'>, powerAtRest: boolean): boolean =>
  powerAtRest && (i.phase === 'suppressed' || i.phase === 'failed' || isHeld(i));

const busy = (node: string, i: Pick<IncidentRecord, 'id' | 'phase' | 'gate'>): MusterError =>
  new MusterError(
    'NODE_BUSY',
    `${node} has an open incident: ${i.id} is ${phaseText(i)}; its networks and driver stay until it is closed, its power devices until it is blocked by a gate or failed, or its proof of off is held, and ${POWER_QUARANTINE_MS / 1000} s have passed since its last command`,
    { node, incident: i.id },
  );

/** As JSON merge patches do: absent stays, null removes (what every node has takes its default), mappings merge. */
export function patched(node: NodeRecord, patch: RecordPatch): NodeRecord {
  const after: NodeRecord = { ...node };
  if (patch.hostGroup === null) delete after.hostGroup;
  else if (patch.hostGroup !== undefined) after.hostGroup = patch.hostGroup;
  if (patch.failureDomain !== undefined) after.failureDomain = patch.failureDomain ?? 'default';
  if (patch.provisionDriver !== undefined) after.provisionDriver = patch.provisionDriver ?? 'ansible';
  if (patch.fencing !== undefined) after.fencing = patch.fencing ?? 'auto';
  if (patch.networks !== undefined) after.networks = mergedNetworks(node.networks, patch.networks);
  if (patch.vars !== undefined) after.vars = patch.vars === null ? {} : withoutNulls({ ...node.vars, ...patch.vars });
  if (patch.powerLevels !== undefined) after.powerLevels = withStoredSecrets(patch.powerLevels ?? [], node);
  if (patch.sshHostKeys === null) delete after.sshHostKeys;
  return after;
}

/** What makes another record of the same name what this one is. */
export const patchOf = (n: NodeRecord): RecordPatch => ({
  ...(n.hostGroup !== undefined && { hostGroup: n.hostGroup }),
  failureDomain: n.failureDomain,
  networks: n.networks,
  powerLevels: n.powerLevels,
  provisionDriver: n.provisionDriver,
  vars: n.vars,
  fencing: n.fencing,
});

function withStoredVars(node: NodeRecord, p: NodePatchRequest): NodePatchRequest {
  return p.vars ? { ...p, vars: unmasked(p.vars, node.vars, 'vars', 'BAD_REQUEST') } : p;
}

function withoutPasswords(
  node: NodeRecord,
  { powerLevels, ...rest }: NodePatchRequest,
  facts: EditFacts,
  nonce: string,
): { patch: RecordPatch; secrets: Record<string, string> } {
  if (powerLevels === undefined) return { patch: rest, secrets: {} };
  const isStored = (device: Omit<PowerDeviceRequest, 'password'>, password: string): boolean => {
    const was = deviceOf(node, device.id);
    return was?.secret !== undefined && samePlace(was, device) && facts.isStored(was.secret, password);
  };
  const devices = recordedDevices(node.name, powerLevels ?? [], nonce, { isStored, before: node.powerLevels.flat() });
  return { patch: { ...rest, powerLevels: devices.powerLevels }, secrets: devices.secrets };
}

const deviceOf = (node: NodeRecord, id: string): PowerDevice | undefined =>
  node.powerLevels.flat().find((d) => d.id === id);

const withStoredSecrets = (levels: PowerDevice[][], node: NodeRecord): PowerDevice[][] =>
  levels.map((level) =>
    level.map((device) => {
      const secret = device.secret ?? storedSecret(device, node.powerLevels.flat());
      return secret === undefined ? device : { ...device, secret };
    }),
  );

function mergedNetworks(networks: NodeRecord['networks'], patch: NodePatchRequest['networks']): NodeRecord['networks'] {
  const merged = { ...networks };
  for (const [name, network] of Object.entries(patch ?? {})) {
    if (network === null) delete merged[name];
    else merged[name] = { address: network.address };
  }
  return merged;
}

/** The group of a node that is set up decides what runs on it, and the master rules rest on it. */
function checkGroupChange(node: NodeRecord, hostGroup: string | undefined, groups: readonly HostGroup[]): void {
  if (hostGroup !== undefined) checkHostGroup(hostGroup, groups);
  if (!isInUse(node)) return;
  if (roleOf(groups, node.hostGroup) === roleOf(groups, hostGroup)) return;
  throw new MusterError(
    'ILLEGAL_TRANSITION',
    `${node.name} is ${node.status}: its host group has a role, ask for maintenance with the new host group instead`,
    { node: node.name, status: node.status, from: node.hostGroup ?? '', to: hostGroup ?? '' },
  );
}

/** What a job rests on stays as it is until the job has ended; while an import is written, everything does. */
function checkHolder(node: string, hold: Hold | undefined, essential: boolean): void {
  const holder = hold?.edit ?? (essential ? hold?.job : undefined);
  if (holder !== undefined)
    throw new MusterError('NODE_RESERVED', `${node} is held by ${holder}, try again when it has ended`, {
      node,
      ...hold,
    });
}

/** A map that was read from the store has no prototype, one of a request has: that is no difference. */
const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(structuredClone(a), structuredClone(b));
