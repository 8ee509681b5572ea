import type { PeerList } from '#contracts/wire/peers.js';
import { DetectionProfiles, type DetectionSettings } from '#contracts/settings/settings.js';

/** The list of peers that is in use, and what follows from it on this host. */
export class KnownPeers {
  private now: { list: PeerList; shared: ReadonlyMap<string, string[]> } | undefined;

  /** @param networks of this host, sorted */
  constructor(readonly networks: string[]) {}

  get list(): PeerList | undefined {
    return this.now?.list;
  }

  /** 0: there is none yet. */
  get version(): number {
    return this.list?.version ?? 0;
  }

  get detection(): DetectionSettings {
    return this.list?.detection ?? DetectionProfiles.lan;
  }

  /** Peer → networks that we share with it. */
  get shared(): ReadonlyMap<string, string[]> {
    return this.now?.shared ?? new Map();
  }

  addressOf(peer: string, network: string): string | undefined {
    return this.list?.peers.find((p) => p.name === peer)?.networks[network];
  }

  /** @returns peers that had another address on a network until now */
  apply(list: PeerList): string[] {
    const moved = (this.list?.peers ?? []).filter((old) => {
      const peer = list.peers.find((p) => p.name === old.name);
      return Object.entries(old.networks).some(([n, address]) => (peer?.networks[n] ?? address) !== address);
    });
    const shared = new Map(list.peers.map((p) => [p.name, this.networks.filter((n) => n in p.networks)]));
    this.now = { list, shared };
    return moved.map((p) => p.name);
  }
}
