import {
  UNTRIED,
  withoutSilence,
  type LifeSigns,
  type NetworkLifeSigns,
  type PingSign,
  type PortSign,
  type SshSign,
} from '#contracts';

/** Where an observer's look at a node counts. */
export interface ObservedPlace {
  /** As registered: what was found at another address is no word of this node. */
  address: string;
  /** The observer hears others there: that it finds nothing is not its own fault. */
  hearsOthers: boolean;
}

/** What shows most comes first; silence is what is left where every network was tried. */
const ssh: readonly SshSign[] = ['banner', 'accepted', 'refused', 'not-tried', 'silent'];
const icmp: readonly PingSign[] = ['reply', 'not-tried', 'cannot', 'silent'];
const port: readonly PortSign[] = ['unreachable', 'not-tried', 'cannot', 'silent'];

/**
 * What an observer has found of a host, over all networks that both have: the strongest sign over any of them. A channel
 * is silent where it is silent over each, and the observer can look there.
 * @param places network → where it should have looked, at least one
 */
export function foldObservations(
  networks: Readonly<Record<string, NetworkLifeSigns>>,
  places: Readonly<Record<string, ObservedPlace>>,
): LifeSigns {
  const observations = Object.entries(places).map(([network, { address, hearsOthers }]): LifeSigns => {
    const signs = networks[network];
    if (signs === undefined || signs.address !== address) return UNTRIED;
    return hearsOthers ? signs : withoutSilence(signs);
  });
  const first = <S extends string>(order: readonly S[], of: (l: LifeSigns) => S): S | 'not-tried' =>
    order.find((sign) => observations.some((l) => of(l) === sign)) ?? 'not-tried';
  return {
    ssh: first(ssh, (l) => l.ssh),
    icmp: first(icmp, (l) => l.icmp),
    port: first(port, (l) => l.port),
    agentPort: first(port, (l) => l.agentPort),
  };
}
