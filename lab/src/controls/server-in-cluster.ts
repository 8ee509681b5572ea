import { MusterError } from '#contracts';
import type { ControlPlan, LabPlan } from '../plan.js';

const ROUTE_PORT = 6222;
const ROUTE_USER = 'route';

export interface ServerInCluster {
  /** Of the cluster. */
  name: string;
  /** Of the routes. */
  password: string;
  /** Folder in which this server keeps the accounts. */
  accounts: string;
}

/**
 * What nats-server of one of several control hosts reads: `nats.conf` beside it, as `muster init` writes it for a single
 * server, and what makes it one of a cluster, whose routes go over the management network. A later value replaces an
 * earlier one.
 */
export function serverInCluster(plan: LabPlan, control: ControlPlan, o: ServerInCluster): string {
  const at = (c: ControlPlan): string => `${c.networks.management}:${ROUTE_PORT}`;
  const others = plan.controls.filter((c) => c !== control);
  return [
    'include "nats.conf"',
    `server_name: ${JSON.stringify(control.name)}`,
    'cluster {',
    `  name: ${JSON.stringify(o.name)}`,
    `  listen: ${JSON.stringify(at(control))}`,
    `  authorization { user: ${ROUTE_USER}, password: ${JSON.stringify(o.password)}, timeout: 10 }`,
    `  routes: [${others.map((c) => JSON.stringify(`nats-route://${ROUTE_USER}:${o.password}@${at(c)}`)).join(', ')}]`,
    // Clients are told of every server by their configuration: a server knows its addresses, not which of them is whose.
    '  no_advertise: true',
    '}',
    // A revocation reaches a server that was down within 2 s of its start.
    `resolver: { type: full, dir: ${JSON.stringify(o.accounts)}, allow_delete: false, interval: "2s" }`,
    '',
  ].join('\n');
}

/** On the 2.12 line, and from 2.14 on: older ones lose acknowledged writes, or acknowledge two holders of a lease. */
const FLOORS = [
  [2, 12, 12],
  [2, 14, 3],
] as const;

/** Whether a server of this version (`2.15.1`) may be one of a cluster. */
export function isFitForCluster(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const [old, recent] = FLOORS;
  if (major === old[0] && minor === old[1]) return patch >= old[2];
  return (
    major > recent[0] || (major === recent[0] && (minor > recent[1] || (minor === recent[1] && patch >= recent[2])))
  );
}

/** CONFIG_INVALID names the version, or says why there is none. */
export function refuseUnfit(version: string | undefined, why: string): string {
  if (version !== undefined && isFitForCluster(version)) return version;
  throw new MusterError(
    'CONFIG_INVALID',
    `--control 3 needs nats-server 2.12.12 on the 2.12 line, or 2.14.3 or newer: ${version === undefined ? why : `${why} is ${version}`}`,
  );
}
