import { runsOnNode, type NodeRecord, type WorkerRecord } from '#contracts';

/** What this process knows of the machine that it runs on. */
export interface OwnHost {
  name: string;
  /** Of its interfaces, without loopback. */
  addresses: readonly string[];
}

type Named = Pick<NodeRecord, 'name' | 'label' | 'networks'>;

/** Its own host no fencer powers off: it would die between the off and the proof. */
export const isOwnHost = (node: Named, host: OwnHost): boolean =>
  runsOnNode(host.name, node) || Object.values(node.networks).some((n) => host.addresses.includes(n.address));

/**
 * Whether this fencer leaves the lease to another: its own host waits for fencing, and another fencer lives that does
 * not run on a node that waits for it too. Where there is none, it goes on for the others' sake.
 * @param waiting nodes with an incident in phase `fencing`
 */
export function standsBack(
  me: string,
  host: OwnHost,
  waiting: readonly Named[],
  workers: readonly Pick<WorkerRecord, 'service' | 'id' | 'host'>[],
): boolean {
  if (!waiting.some((n) => isOwnHost(n, host))) return false;
  return workers.some((w) => w.service === 'fencer' && w.id !== me && !waiting.some((n) => runsOnNode(w.host, n)));
}
