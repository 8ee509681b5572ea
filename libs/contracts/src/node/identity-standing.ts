import { createHash } from 'node:crypto';
import type { NodeRecord, PowerDevice } from './node.js';
import type { PowerIdentity } from '../hardware/power-identity.js';

/** Options of a device that tell one outlet, system or bridged controller behind an address from the next. */
export const OUTLET_OPTIONS = ['plug', 'outlet', 'system', 'target', 'channel'] as const;

/**
 * What an identity rests on: where the device is, and who asks there. Where either has changed, all that was found
 * is void.
 */
export function identityBasis(d: PowerDevice): string {
  const outlet = OUTLET_OPTIONS.map((name) => d.options?.[name] ?? '');
  const parts = JSON.stringify([d.driver, d.address, d.port ?? '', d.username ?? '', d.secret ?? '', ...outlet]);
  const known = bases.get(parts);
  if (known !== undefined) return known;
  const basis = createHash('sha256').update(parts).digest('hex').slice(0, 32);
  if (bases.size >= MOST_BASES) bases.clear();
  bases.set(parts, basis);
  return basis;
}

/** Asked of every device of the fleet twice a second: a hash costs more than all the rest of it. */
const bases = new Map<string, string>();
/** Ten fleets of the largest size. */
const MOST_BASES = 10_000;

/** Where a device stands: `acknowledged` is a mismatch that an administrator answers for. */
export type IdentityStanding = PowerIdentity['result'] | 'acknowledged';

type Identified = Pick<NodeRecord, 'powerIdentity'>;

/** What is known of the device as it is now; undefined: nothing, or of another place or other credentials. */
export function knownIdentity(n: Identified, d: PowerDevice): PowerIdentity | undefined {
  const known = n.powerIdentity?.[d.id];
  return known?.basis === identityBasis(d) ? known : undefined;
}

export function identityStanding(n: Identified, d: PowerDevice): IdentityStanding {
  const known = knownIdentity(n, d);
  if (known === undefined) return 'unproven';
  return known.result === 'mismatch' && known.acknowledged !== undefined ? 'acknowledged' : known.result;
}

/** The proof that a device is its node's own; undefined: there is none. */
export function provenIdentity(n: Identified, d: PowerDevice): PowerIdentity | undefined {
  const known = knownIdentity(n, d);
  return known?.result === 'proven' ? known : undefined;
}

/** Devices of the node that are not proven: what they say of its power may be said of another machine. */
export const unprovenDevices = (n: Pick<NodeRecord, 'powerIdentity' | 'powerLevels'>): PowerDevice[] =>
  n.powerLevels.flat().filter((d) => provenIdentity(n, d) === undefined);

/** The node's identities with this one in the place of what was known of the device. */
export const withIdentity = <N extends NodeRecord>(n: N, device: string, identity: PowerIdentity): N => ({
  ...n,
  powerIdentity: { ...n.powerIdentity, [device]: identity },
});

/** By a drill: this agent fell silent with the device's off, and nobody else did. */
export function drilledIdentity(n: Identified, d: PowerDevice, at: number): PowerIdentity {
  const seen = knownIdentity(n, d)?.seen;
  return { result: 'proven', by: 'drill', at, ...(seen !== undefined && { seen }), basis: identityBasis(d) };
}
