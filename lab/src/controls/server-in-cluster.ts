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
