/** ms that a warning stays after its last reason. */
const KEPT = 60_000;
/** ms without a word of the newest process after which an older number is believed: its epoch was lost. */
const SILENT = 10_000;
/** ms after a restart in which datagrams of the old process may still arrive. */
const LATE = 2_000;
/** Datagrams of an older process of ours within `KEPT` that are no late ones any more. */
const PROOF = 3;
/** ms between two questions to whoever speaks as an older process of one peer. */
const ASK_GAP = 2_000;
/** ms for the answer. */
const ANSWER = 2_000;

interface Voice {
  newest: bigint;
  /** When it was first and last heard. */
  since: number;
  heardAt: number;
  older: number;
  olderAt: number;
  asked?: { nonce: string; at: number };
}

/**
 * Sees two machines under one name: ours, when somebody signs as us with another epoch (a higher one is surely not of an
 * earlier process of ours), and a peer's, when an older epoch goes on speaking beside a newer one, and answers a question
 * of ours: what it says unasked may be recorded, and would keep a node that is dead from being judged. For warnings, from
 * which the monitor concludes that nobody can tell who is heard. Times are monotonic ms.
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

  /** True: an older process than its newest seems to speak. Whoever sent this is to be asked, see {@link asked}. */
  heard(peer: string, epoch: bigint, now: number): boolean {
    const voice = this.peers.get(peer);
    if (!voice) this.peers.set(peer, { newest: epoch, since: now, heardAt: now, older: 0, olderAt: -Infinity });
    else if (epoch === voice.newest) voice.heardAt = now;
    else if (epoch > voice.newest || now - voice.heardAt > SILENT)
      Object.assign(voice, { newest: epoch, since: now, heardAt: now });
    else return now - voice.since > LATE && now - (voice.asked?.at ?? -Infinity) >= ASK_GAP;
    return false;
  }

  asked(peer: string, nonce: string, now: number): void {
    const voice = this.peers.get(peer);
    if (voice) voice.asked = { nonce, at: now };
  }

  /** Whether this answers a question to an older process. */
  answered(peer: string, epoch: bigint, nonce: string, now: number): boolean {
    const voice = this.peers.get(peer);
    if (voice?.asked?.nonce !== nonce) return false;
    if (epoch < voice.newest && now - voice.asked.at <= ANSWER) this.count(voice, PROOF, now);
    return true;
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
