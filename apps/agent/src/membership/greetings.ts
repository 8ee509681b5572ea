/** Nonces of greetings that wait for their welcome. */
export class Greetings {
  private readonly waiting = new Map<string, { peer: string; network: string; until: number }>();

  sent(nonce: string, peer: string, network: string, until: number): void {
    this.waiting.set(nonce, { peer, network, until });
  }

  /** Whether this is the answer to a greeting of ours that still waits. */
  welcomed(nonce: string, peer: string, network: string, now: number): boolean {
    const g = this.waiting.get(nonce);
    if (g?.peer !== peer || g.network !== network) return false;
    this.waiting.delete(nonce);
    return g.until >= now;
  }

  expire(now: number): void {
    for (const [nonce, { until }] of this.waiting) if (until < now) this.waiting.delete(nonce);
  }
}
