import { runsOnNode, type NodeRecord } from '#contracts';

/** What this process knows of the machine that it runs on. */
export interface OwnHost {
  name: string;
  /** Of its interfaces, without loopback. */
  addresses: readonly string[];
}

/** What the process sees, and what it was told: in a container it sees the container's own name and addresses. */
export const knownHost = (told: { name?: string; addresses: readonly string[] }, seen: OwnHost): OwnHost => ({
  name: told.name ?? seen.name,
  addresses: [...new Set([...told.addresses, ...seen.addresses])],
});

type Named = Pick<NodeRecord, 'name' | 'label' | 'networks'>;

/** Its own host no fencer powers off: it would die between the off and the proof. */
export const isOwnHost = (node: Named, host: OwnHost): boolean =>
  runsOnNode({ host: host.name, addresses: host.addresses }, node);
