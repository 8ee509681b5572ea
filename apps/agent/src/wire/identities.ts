/** ms that a warning stays after its last reason. */
const KEPT = 60_000;
/** ms without a word of the newest process after which an older number is believed: its epoch was lost. */
const SILENT = 10_000;
/** ms after a restart in which datagrams of the old process may still arrive. */
const LATE = 2_000;
/** Datagrams of an older process within `KEPT` that are no late or replayed ones any more. */
const PROOF = 3;

interface Voice {
  newest: bigint;
  /** When it was first and last heard. */
  since: number;
  heardAt: number;
  older: number;
  olderAt: number;
}

/**
 * Sees two machines under one name: ours, when somebody signs as us with another epoch (a higher one is surely not of an
 * earlier process of ours), and a peer's, when an older epoch goes on speaking beside a newer one. For warnings only.
 * Times are monotonic ms.
 */
export class Identities {
  private readonly own: Voice;
  private readonly peers = new Map<string, Voice>();

  constructor(
    private readonly self: string,
    epoch: number,
  ) {
    this.own = { newest: BigInt(epoch), since: 0, heardAt: 0, older: 0, olderAt: -Infinity };
  }

  /** Only these are remembered. */
  know(names: ReadonlySet<string>): void {
    for (const name of this.peers.keys()) if (!names.has(name)) this.peers.delete(name);
  }

  /** A datagram that bears our own name. */
  asUs(epoch: bigint, now: number): void {
    if (epoch === this.own.newest) return;
    this.count(this.own, epoch > this.own.newest ? PROOF : 1, now);
  }

  heard(peer: string, epoch: bigint, now: number): void {
    const voice = this.peers.get(peer);
    if (!voice) this.peers.set(peer, { newest: epoch, since: now, heardAt: now, older: 0, olderAt: -Infinity });
    else if (epoch === voice.newest) voice.heardAt = now;
    else if (epoch > voice.newest || now - voice.heardAt > SILENT)
      Object.assign(voice, { newest: epoch, since: now, heardAt: now });
    else if (now - voice.since > LATE) this.count(voice, 1, now);
  }

  warnings(now: number): string[] {
    const twice = (v: Voice): boolean => v.older >= PROOF && now - v.olderAt <= KEPT;
    const peers = [...this.peers].filter(([, v]) => twice(v)).map(([name]) => name);
    return [
      ...(twice(this.own) ? [`duplicate: another machine speaks as ${this.self}`] : []),
      ...peers.map((name) => `duplicate: two machines speak as ${name}`),
    ];
  }

  private count(voice: Voice, by: number, now: number): void {
    if (now - voice.olderAt > KEPT) voice.older = 0;
    voice.older += by;
    voice.olderAt = now;
  }
}
