import type { NodeRecord } from '../node/node.js';

/** Bucket `workers`, key `<service>=<id>`; heartbeat every 2 s, dead after 6 s by the receiver's clock. */
export interface WorkerRecord {
  service: 'fencer' | 'provisioner';
  id: string;
  /** Self-tested drivers only. */
  drivers: string[];
  /**
   * Of these, what could not be started when it was last tried. It is still on offer: three failed tests in a row take
   * it off. Fencers step back for one that has none of them failing.
   */
  failing?: string[];
  /**
   * What it reads of what is stored: 2 what is sealed, 3 power records as well. Absent: a version of before, which takes
   * what is sealed in a record for the secret itself.
   */
  reads?: number;
  /** Random per process: a second process with the same id is told by it. */
  incarnation: string;
  host: string;
  /** Of that host’s interfaces, without loopback, as of this beat. Absent: a version of before, or nobody asks for them. */
  addresses?: string[];
  startedAt: number;
  beat: number;
}
export const WORKER_BEAT_MS = 2000;
export const WORKER_DEAD_MS = 6000;
export const workerKey = (w: { service: string; id: string }): string => `${w.service}=${w.id}`;

/**
 * Whether a process with this host runs on the node: the host is named as the node's name, label or an address, in any case,
 * with or without a domain; or it has an address of the node, whatever it is called.
 */
export function runsOnNode(
  { host, addresses = [] }: { host: string; addresses?: readonly string[] },
  node: Pick<NodeRecord, 'name' | 'label' | 'networks'>,
): boolean {
  const wanted = host.toLowerCase();
  const short = (name: string): string => (/^[\d.]+$|:/.test(name) ? name : (name.split('.')[0] ?? name));
  const own = [wanted, ...addresses.map((a) => a.toLowerCase())];
  if (Object.values(node.networks).some((n) => own.includes(n.address.toLowerCase()))) return true;
  return [node.name, node.label].some((name) => short(name.toLowerCase()) === short(wanted));
}
