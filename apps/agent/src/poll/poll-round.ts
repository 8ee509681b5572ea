import type { PollAnswer, PollRequest } from '#contracts/wire/poll.js';

/** Times in ms. */
export const pollNumbers = {
  /** Probes per target and network, none more once one was answered. */
  probes: 3,
  gap: 250,
  /** First probes of all targets are spread over this, at most; each waits for one more step of the loop. */
  spread: 100,
  perTarget: 5,
  /** From the request to the answer: below the monitor's own limit of a second, with room for the way. */
  limit: 850,
} as const;

/** One link that is probed: a target over a network that we share. */
interface PolledLink {
  target: string;
  network: string;
  address: string;
  nextAt: number;
  sent: number;
  answered: number;
  /** Probes that may still be sent. */
  left: number;
}

export type PollProbe = Readonly<Pick<PolledLink, 'target' | 'network' | 'address'>>;

/**
 * One request of the monitor: a few probes to each target over each network that we share, spread, each with a nonce of
 * its own. Done as soon as every link has answered, or at its limit. Times are monotonic ms.
 */
export class PollRound {
  private readonly links: PolledLink[];
  private readonly nonces = new Map<string, PolledLink>();
  private readonly until: number;

  /** @param networks our own */
  constructor(
    readonly request: PollRequest,
    self: string,
    networks: readonly string[],
    now: number,
  ) {
    this.until = now + pollNumbers.limit;
    const step = Math.min(pollNumbers.perTarget, pollNumbers.spread / Math.max(1, request.targets.length));
    this.links = request.targets.flatMap(({ name: target, networks: addresses }, i) =>
      target === self
        ? []
        : networks
            .filter((network) => addresses[network] !== undefined)
            .map((network) => ({
              target,
              network,
              address: addresses[network] as string,
              nextAt: now + i * step,
              sent: 0,
              answered: 0,
              left: pollNumbers.probes,
            })),
    );
  }

  /** Probes to be sent now. */
  due(now: number): PollProbe[] {
    const due = this.links.filter((l) => l.answered === 0 && l.left > 0 && l.nextAt <= now);
    for (const link of due) {
      link.left--;
      link.nextAt = now + pollNumbers.gap;
    }
    return due;
  }

  sent(probe: PollProbe, nonce: string): void {
    const link = probe as PolledLink;
    link.sent++;
    this.nonces.set(nonce, link);
  }

  /** It did not leave by our own fault: it says nothing of the target. */
  unsent(nonce: string): void {
    const link = this.nonces.get(nonce);
    if (link) link.sent--;
    this.nonces.delete(nonce);
  }

  /** Whether this is an answer that we wait for; the sender has been compared with the target by `isFrom`. */
  echo(network: string, nonce: string, isFrom: (target: string) => boolean): boolean {
    const link = this.nonces.get(nonce);
    if (link?.network !== network || !isFrom(link.target)) return false;
    this.nonces.delete(nonce);
    link.answered++;
    return true;
  }

  done(now: number): boolean {
    return now >= this.until || this.links.every((l) => l.answered > 0);
  }

  /** Per target; a network of which nothing is said was not tried. */
  answer(): PollAnswer['targets'] {
    return this.request.targets.map(({ name }) => ({
      name,
      networks: Object.fromEntries(
        this.links
          .filter((l) => l.target === name && l.sent > 0)
          .map(({ network, sent, answered }) => [network, { sent, answered }]),
      ),
    }));
  }
}
