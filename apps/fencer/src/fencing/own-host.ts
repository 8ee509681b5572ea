import { runsOnNode, type NodeRecord } from '#contracts';

/** What this process knows of the machine that it runs on. */
export interface OwnHost {
  name: string;
  /** Of its interfaces, without loopback. */
  addresses: readonly string[];
}

/** What the process sees, and what is configured: in a container it sees the container's own name and addresses. */
export const knownHost = (configured: { name?: string; addresses: readonly string[] }, seen: OwnHost): OwnHost => ({
  name: configured.name ?? seen.name,
  addresses: [...new Set([...configured.addresses, ...seen.addresses])],
});

type Named = Pick<NodeRecord, 'name' | 'label' | 'networks'>;

/** Its own host no fencer powers off: it would die between the off and the proof. */
export const isOwnHost = (node: Named, host: OwnHost): boolean =>
  runsOnNode({ host: host.name, addresses: host.addresses }, node);
