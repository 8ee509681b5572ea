/** Networks of a node by name; `management` is the one that ssh and the API use. */
export type Networks = Record<string, { address: string }>;
export const MANAGEMENT = 'management';
/** By which operators and the monitor name a node; empty: it has none. */
export const managementAddress = (n: { networks: Networks }): string => n.networks[MANAGEMENT]?.address ?? '';
