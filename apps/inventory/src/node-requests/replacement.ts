import { MusterError, nodeName, type NodeReplaceRequest, type NodeRecord } from '#contracts';
import { removalOf } from '#domain/removal/removal.js';
import type { PreparedEdit } from './edits.js';
import { fleetOf, type RuleFacts } from '../nodes/node-rules.js';
import { secretKey, storedSecret } from '../nodes/power-devices.js';
import type { AddressesOf } from '../power/power-place.js';
import { secretsOf } from './power-secrets.js';
import { register } from '../nodes/registration.js';

export interface ReplacementFacts extends Omit<RuleFacts, 'fleet'> {
  nodes: readonly NodeRecord[];
  addressesOf?: AddressesOf | undefined;
}

/**
 * New hardware in the place of `old`: its record has what the old one had, unless given, and is as unknown as every new
 * node; nothing that the old machine proved of itself goes over, and its agent is awaited where the old one had one. Passwords go over under keys of the new node.
 * @throws MusterError as a registration does
 */
export function replacement(
  old: NodeRecord,
  r: NodeReplaceRequest,
  facts: ReplacementFacts,
  at: number,
  nonce: string,
  by: string,
): PreparedEdit {
  const label = r.label ?? old.label;
  if (nodeName(label, r.serial) === old.name)
    throw new MusterError('BAD_REQUEST', `new hardware has another serial than ${old.serial}: edit the node instead`);
  const stays = facts.nodes.filter((n) => n.name !== old.name);
  const registration = register(
    {
      label,
      serial: r.serial,
      ...(old.hostGroup !== undefined && { hostGroup: old.hostGroup }),
      failureDomain: old.failureDomain,
      networks: r.networks ?? old.networks,
      powerLevels: r.powerLevels ?? old.powerLevels.map((level) => level.map(({ secret: _own, ...device }) => device)),
      provisionDriver: old.provisionDriver,
      vars: old.vars,
      fencing: old.fencing,
      enrolled: false,
    },
    { ...facts, fleet: fleetOf(stays, facts.addressesOf) },
    at,
    nonce,
    old,
  );
  const copies = new Map<string, string>();
  const powerLevels = registration.node.powerLevels.map((level) =>
    level.map((device) => {
      if (device.secret !== undefined) return device;
      const stored = storedSecret(device, old.powerLevels.flat());
      if (stored === undefined) return device;
      const secret = secretKey(registration.node.name, device.id, nonce);
      copies.set(stored, secret);
      return { ...device, secret };
    }),
  );
  // No member before its agent is there: hardware that is still to come would count as silent, and blind the monitor.
  const node: NodeRecord = { ...registration.node, powerLevels, ...(old.enrolled && { awaited: true }) };
  return {
    changes: [{ kind: 'create', node }, removalOf(old.name, 'replacement', by, at)],
    secrets: registration.secrets,
    copies,
    drops: secretsOf(old),
  };
}
