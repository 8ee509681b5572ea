/** Times in ms. */
export interface MembershipNumbers {
  /** Between two runs of the rejoin loop; each is drawn ± jitter. */
  period: number;
  /** The same while no peer at all is a member. */
  isolatedPeriod: number;
  jitter: number;
  /** A lost peer is greeted this often, also between the runs. */
  lostProbe: number;
  /** Greetings in flight at once. */
  parallel: number;
  /** How long a greeting waits for its welcome. */
  limit: number;
}

export const membershipNumbers: MembershipNumbers = {
  period: 60_000,
  isolatedPeriod: 5_000,
  jitter: 0.1,
  lostProbe: 30_000,
  parallel: 8,
  limit: 2_000,
};

/**
 * Who is a member and who is lost, and which lost peers are greeted now. Members are never greeted. A run greets every
 * lost peer once; triggers that come during a run become one more run after it. Greetings overlap by at most
 * `parallel`, and none waits for another: there is no lock that a dead peer could hold.
 */
export class Membership {
  private readonly peers = new Set<string>();
  private readonly lost = new Map<string, { greetedAt: number }>();
  private readonly queue: string[] = [];
  private readonly inFlight = new Map<string, number>();
  private again = false;
  private nextRunAt: number;

  constructor(
    private readonly n: MembershipNumbers,
    private readonly random: () => number,
    now: number,
  ) {
    this.nextRunAt = now + this.draw(n.period);
  }

  isLost(peer: string): boolean {
    return this.lost.has(peer);
  }

  lostPeers(): string[] {
    return [...this.lost.keys()];
  }

  isolated(): boolean {
    return this.peers.size > 0 && this.lost.size === this.peers.size;
  }

  /** A new peer counts as a member until it proves silent. */
  setPeers(names: Iterable<string>, now: number): void {
    const next = new Set(names);
    for (const peer of [...this.peers])
      if (!next.has(peer)) {
        this.peers.delete(peer);
        this.dropLost(peer);
      }
    for (const peer of next) this.peers.add(peer);
    this.trigger(now);
  }

  lose(peer: string, now: number): void {
    if (!this.peers.has(peer) || this.lost.has(peer)) return;
    this.lost.set(peer, { greetedAt: now });
    if (this.isolated()) this.nextRunAt = Math.min(this.nextRunAt, now + this.draw(this.n.isolatedPeriod));
  }

  /** The peer brought our greeting back: true when it is a member again by this. */
  welcome(peer: string): boolean {
    const joined = this.lost.has(peer);
    this.dropLost(peer);
    return joined;
  }

  /** Something changed (peer list, NATS back, own link up, a node event): look at all lost peers now. */
  trigger(now: number): void {
    if (this.running()) this.again = true;
    else this.startRun(now);
  }

  /** A lost peer was heard: greet just that one. */
  greetSoon(peer: string): void {
    if (this.lost.has(peer) && !this.inFlight.has(peer) && !this.queue.includes(peer)) this.queue.unshift(peer);
  }

  /** Whom to greet now; each counts as in flight until its welcome or its limit. */
  next(now: number): string[] {
    for (const [peer, deadline] of this.inFlight) if (deadline <= now) this.inFlight.delete(peer);
    if (!this.running() && (this.again || now >= this.nextRunAt)) this.startRun(now);
    for (const [peer, { greetedAt }] of this.lost) if (now - greetedAt >= this.n.lostProbe) this.greetSoon(peer);
    const greet: string[] = [];
    while (this.queue.length > 0 && this.inFlight.size < this.n.parallel) {
      const peer = this.queue.shift() as string;
      const state = this.lost.get(peer);
      if (!state || this.inFlight.has(peer)) continue;
      state.greetedAt = now;
      this.inFlight.set(peer, now + this.n.limit);
      greet.push(peer);
    }
    return greet;
  }

  private running(): boolean {
    return this.queue.length > 0 || this.inFlight.size > 0;
  }

  private startRun(now: number): void {
    this.again = false;
    this.queue.push(...this.lost.keys());
    this.nextRunAt = now + this.draw(this.isolated() ? this.n.isolatedPeriod : this.n.period);
  }

  private dropLost(peer: string): void {
    this.lost.delete(peer);
    this.inFlight.delete(peer);
    const queued = this.queue.indexOf(peer);
    if (queued >= 0) this.queue.splice(queued, 1);
  }

  private draw(ms: number): number {
    return ms * (1 + this.n.jitter * (2 * this.random() - 1));
  }
}
