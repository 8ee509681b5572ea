/** Nonces of rejoin attempts that wait for their welcome. */
export class RejoinAttempts {
  private readonly waiting = new Map<string, { peer: string; network: string; until: number }>();

  sent(nonce: string, peer: string, network: string, until: number): void {
    this.waiting.set(nonce, { peer, network, until });
  }

  /** Whether this is the answer to an attempt of ours that still waits. */
  welcomed(nonce: string, peer: string, network: string, now: number): boolean {
    const g = this.waiting.get(nonce);
    if (g?.peer !== peer || g.network !== network) return false;
    this.waiting.delete(nonce);
    return g.until >= now;
  }

  /** It did not leave: there is no welcome to wait for. */
  failed(nonce: string): void {
    this.waiting.delete(nonce);
  }

  /** Those that left and had no welcome in time; they wait no more. */
  expire(now: number): { peer: string; network: string }[] {
    const unanswered = [];
    for (const [nonce, { peer, network, until }] of this.waiting)
      if (until < now) {
        this.waiting.delete(nonce);
        unanswered.push({ peer, network });
      }
    return unanswered;
  }
}
