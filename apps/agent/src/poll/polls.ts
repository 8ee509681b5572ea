import { peerId } from '#contracts/wire/datagram.js';
import type { PollAnswer, PollRequest } from '#contracts/wire/poll.js';
import { PollRound, type PollProbe } from './poll-round.js';

/** Requests that are worked on at once; one more is answered with an abstention, which reports nobody down. */
const MOST_ROUNDS = 4;

export interface PollParts {
  node: string;
  epoch: number;
  networks: readonly string[];
  /** A fresh PROBE. */
  question: (p: PollProbe) => { bytes: Buffer; nonce: string };
  /** `unsent` is called when it did not leave by our own fault. */
  send: (p: PollProbe, port: number, bytes: Buffer, unsent: () => void) => void;
  /** Why nothing that this agent misses reports anybody down now. */
  abstains: (now: number) => boolean;
}

interface Running {
  round: PollRound;
  abstain: boolean;
  answered: Promise<PollAnswer>;
  resolve: (a: PollAnswer) => void;
}

/** What the monitor asks this agent to look at, driven by the agent's own loop. */
export class Polls {
  private readonly running = new Map<string, Running>();

  constructor(private readonly p: PollParts) {}

  /** @param key the same for the copies of one request that come over several networks: they share one round */
  begin(request: PollRequest, key: string, now: number): Promise<PollAnswer> {
    const same = this.running.get(key);
    if (same) return same.answered;
    if (this.running.size >= MOST_ROUNDS) return Promise.resolve(this.answer(true, []));
    let resolve: Running['resolve'] = () => undefined;
    const answered = new Promise<PollAnswer>((r) => (resolve = r));
    const round = new PollRound(request, this.p.node, this.p.networks, now);
    this.running.set(key, { round, abstain: this.p.abstains(now), answered, resolve });
    this.step(now);
    return answered;
  }

  /** Sends what is due and ends what is done. */
  step(now: number): void {
    for (const [key, r] of this.running) {
      for (const probe of r.round.due(now)) {
        const { bytes, nonce } = this.p.question(probe);
        r.round.sent(probe, nonce);
        this.p.send(probe, r.round.request.port, bytes, () => r.round.unsent(nonce));
      }
      if (r.round.done(now)) this.end(key, r, now);
    }
  }

  /** The loop stood still: echoes may have come and gone unread. */
  stoodStill(): void {
    for (const r of this.running.values()) r.abstain = true;
  }

  /** An ECHO of whoever it is: true when a round waits for exactly this nonce of this sender on this network. */
  echo(from: bigint, network: string, nonce: string, now: number): boolean {
    for (const [key, r] of this.running) {
      if (!r.round.echo(network, nonce, (target) => peerId(target) === from)) continue;
      if (r.round.done(now)) this.end(key, r, now);
      return true;
    }
    return false;
  }

  private end(key: string, r: Running, now: number): void {
    this.running.delete(key);
    r.resolve(this.answer(r.abstain || this.p.abstains(now), r.round.answer()));
  }

  private answer(abstain: boolean, targets: PollAnswer['targets']): PollAnswer {
    return { node: this.p.node, epoch: this.p.epoch, abstain, targets };
  }
}
