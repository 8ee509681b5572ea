import { POLL_LIMIT_MS, POLL_TARGETS, type PollAnswer } from '#contracts';
import { drawPolled } from './draw.js';

/** ms between two rounds about one suspect. Not less than the limit: nobody is asked while his answer may still come. */
export const POLL_PERIOD_MS = POLL_LIMIT_MS;
/**
 * ms between two times of sending, so that an agent has at most four requests in work, which is all that it takes: when
 * a rack dies, its nodes become suspect one after the other.
 */
export const POLL_GAP_MS = 250;
/** Whoever has been DOWN or LEFT for so long, ms, is asked about less often: what speaks for life shows in other ways, too. */
export const SETTLED_AFTER_MS = 60_000;
/** ms between two rounds then. */
export const SETTLED_PERIOD_MS = 10_000;

/** What one polled observer found of one suspect. */
export interface PollWord {
  /** When it came in, monotonic ms. */
  at: number;
  /** Of the process that answered. */
  epoch: number;
  abstain: boolean;
  /** Network → what was tried there. */
  networks: Readonly<Record<string, { sent: number; answered: number }>>;
}

/** A node that is to be asked about. */
export interface Suspect {
  node: string;
  /** Its verdict stands: it is asked about less often after a while. */
  settled: boolean;
  /** Observers by the plan: they report anyway, and are not asked. */
  watchedBy: readonly string[];
}

/** One request: to whom, about whom. */
export interface PollOrder {
  observer: string;
  targets: string[];
  /** Of which round: what comes back for an earlier suspicion says nothing of the present one. */
  round: number;
}

interface Poll {
  drawn: string[];
  words: Map<string, PollWord>;
  round: number;
  /** Requests of the present round that are neither answered nor given up. */
  open: number;
  askedAt: number;
  settledSince: number | undefined;
}

/** Who is polled about whom, and what came back. Without a clock, a socket or a die: they come in. */
export class PollBook {
  private readonly polls = new Map<string, Poll>();
  private rounds = 0;
  private sentAt = -Infinity;

  constructor(private readonly random: () => number) {}

  /** The observers whose majority decides about this suspect; nobody before it is one. */
  drawnFor(suspect: string): readonly string[] {
    return this.polls.get(suspect)?.drawn ?? [];
  }

  wordOf(observer: string, suspect: string): PollWord | undefined {
    return this.polls.get(suspect)?.words.get(observer);
  }

  /**
   * The requests whose time has come, one to each observer with at most {@link POLL_TARGETS}, and counts them as sent.
   * A suspicion that has ended is forgotten: the next one draws anew.
   */
  due(suspects: readonly Suspect[], members: readonly string[], now: number): PollOrder[] {
    const named = new Set(suspects.map((s) => s.node));
    for (const node of this.polls.keys()) if (!named.has(node)) this.polls.delete(node);
    if (now - this.sentAt < POLL_GAP_MS) return [];
    const asked = new Map<string, string[]>();
    const round = ++this.rounds;
    for (const s of suspects) {
      const poll = this.pollOf(s.node);
      poll.settledSince = s.settled ? (poll.settledSince ?? now) : undefined;
      const settled = poll.settledSince !== undefined && now - poll.settledSince >= SETTLED_AFTER_MS;
      if (poll.open > 0 || now - poll.askedAt < (settled ? SETTLED_PERIOD_MS : POLL_PERIOD_MS)) continue;
      poll.drawn = drawPolled(poll.drawn, members, s.node, this.random);
      poll.askedAt = now;
      poll.round = round;
      const watching = new Set(s.watchedBy);
      for (const observer of poll.drawn) {
        const about = asked.get(observer) ?? [];
        // Who is asked about so many already does not count this time.
        if (watching.has(observer) || about.length >= POLL_TARGETS) continue;
        poll.open++;
        about.push(s.node);
        asked.set(observer, about);
      }
    }
    if (asked.size > 0) this.sentAt = now;
    return [...asked].map(([observer, targets]) => ({ observer, targets, round }));
  }

  /**
   * An order came to its end. Without an answer nobody reports it down; that he heard the suspect in the round before
   * stays until it is too old, for it speaks against a death.
   */
  ended({ observer, targets, round }: PollOrder, answer: PollAnswer | undefined, now: number): void {
    const said = new Map(answer?.targets.map((t) => [t.name, t.networks]));
    for (const target of targets) {
      const poll = this.polls.get(target);
      if (poll?.round !== round) continue;
      poll.open = Math.max(0, poll.open - 1);
      const networks = said.get(target);
      if (answer && networks)
        poll.words.set(observer, { at: now, epoch: answer.epoch, abstain: answer.abstain, networks });
      else if (!hasHeard(poll.words.get(observer))) poll.words.delete(observer);
    }
  }

  /** Whatever came in before now is not believed: everybody is to be asked anew. */
  forget(): void {
    this.polls.clear();
  }

  private pollOf(node: string): Poll {
    let poll = this.polls.get(node);
    if (!poll) {
      poll = { drawn: [], words: new Map(), round: 0, open: 0, askedAt: -Infinity, settledSince: undefined };
      this.polls.set(node, poll);
    }
    return poll;
  }
}

const hasHeard = (word: PollWord | undefined): boolean =>
  word !== undefined && Object.values(word.networks).some((n) => n.answered > 0);
