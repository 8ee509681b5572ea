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

/** A process of an agent, as its datagrams tell of it. */
export interface Start {
  epoch: bigint;
  /** See `bootMark`; 0: not told. */
  boot: number;
}

/** What is newest of one name. */
interface Voice extends Start {
  /** When it was first and last heard. */
  since: number;
  heardAt: number;
  others: number;
  otherAt: number;
  asked?: { nonce: string; at: number };
}

const isSameStart = (a: Start, b: Start): boolean =>
  a.epoch === b.epoch && (a.boot === b.boot || a.boot === 0 || b.boot === 0);

/**
 * Sees two machines under one name: ours, when somebody signs as us with another epoch, or with ours in another boot
 * (only a lower one can be of an earlier process of ours), and a peer's, when an older epoch goes on speaking beside a
 * newer one, or one epoch in two boots, and answers a question of ours: what it says unasked may be recorded, and would
 * keep a node that is dead from being judged. For warnings, from which the monitor concludes that nobody can tell who is
 * heard. Times are monotonic ms.
 */
export class Identities {
  private readonly own: Voice;
  private readonly peers = new Map<string, Voice>();

  constructor(
    private readonly self: string,
    start: Start,
  ) {
    this.own = firstHeard(start, 0);
  }

  /** Only these are remembered. */
  know(names: ReadonlySet<string>): void {
    for (const name of this.peers.keys()) if (!names.has(name)) this.peers.delete(name);
  }

  /** A datagram that bears our own name. */
  asUs(start: Start, now: number): void {
    if (isSameStart(start, this.own)) return;
    this.count(this.own, start.epoch >= this.own.epoch ? PROOF : 1, now);
  }

  /**
   * True: another process than its newest seems to speak, an older one or one of the same epoch. Whoever sent this is to
   * be asked, see {@link asked}.
   */
  heard(peer: string, start: Start, now: number): boolean {
    const { epoch, boot } = start;
    const voice = this.peers.get(peer);
    if (!voice) this.peers.set(peer, firstHeard(start, now));
    else if (isSameStart(voice, start)) {
      voice.heardAt = now;
      if (voice.boot === 0) voice.boot = boot;
    } else if (epoch > voice.epoch || now - voice.heardAt > SILENT)
      Object.assign(voice, { epoch, boot, since: now, heardAt: now });
    else {
      const mayBeLate = epoch < voice.epoch && now - voice.since <= LATE;
      return !mayBeLate && now - (voice.asked?.at ?? -Infinity) >= ASK_GAP;
    }
    return false;
  }

  asked(peer: string, nonce: string, now: number): void {
    const voice = this.peers.get(peer);
    if (voice) voice.asked = { nonce, at: now };
  }

  /** Whether this answers a question to another process than the newest. */
  answered(peer: string, start: Start, nonce: string, now: number): boolean {
    const voice = this.peers.get(peer);
    if (voice?.asked?.nonce !== nonce) return false;
    const isOther = start.epoch <= voice.epoch && !isSameStart(voice, start);
    if (isOther && now - voice.asked.at <= ANSWER) this.count(voice, PROOF, now);
    return true;
  }

  warnings(now: number): string[] {
    const twice = (v: Voice): boolean => v.others >= PROOF && now - v.otherAt <= KEPT;
    const peers = [...this.peers].filter(([, v]) => twice(v)).map(([name]) => name);
    return [
      ...(twice(this.own) ? [`duplicate: another machine speaks as ${this.self}`] : []),
      ...peers.map((name) => `duplicate: two machines speak as ${name}`),
    ];
  }

  private count(voice: Voice, by: number, now: number): void {
    if (now - voice.otherAt > KEPT) voice.others = 0;
    voice.others += by;
    voice.otherAt = now;
  }
}

const firstHeard = ({ epoch, boot }: Start, now: number): Voice => ({
  epoch,
  boot,
  since: now,
  heardAt: now,
  others: 0,
  otherAt: -Infinity,
});
