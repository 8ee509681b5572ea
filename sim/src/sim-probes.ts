import type { OwnProbe } from '#contracts';
import type { ProbeTarget } from '../../apps/detector/src/probe/own-probe.js';

/** As in the real one: an echo is waited for so many times its limit. */
const LATE = 3;

interface Look {
  target: ProbeTarget;
  nextRound: number;
  /** What was sent, and what came or did not come of it. */
  waiting: { at: number; echoed: boolean; limit: number }[];
  echoedAt: number;
  unansweredAt: number;
}

/** The monitor's own look at suspects, with the times of the real one, over the simulated wire. */
export class SimProbes {
  private readonly looks = new Map<string, Look>();
  /** Of those that are not looked at now: what they answer still counts. */
  private readonly ended = new Map<string, Look>();

  constructor(
    private now: number,
    /** When the node's echo to a datagram of this time comes; undefined: never. */
    private readonly echoAt: (node: string, network: string, t: number) => number | undefined,
  ) {}

  watch(targets: readonly ProbeTarget[]): void {
    const wanted = new Set(targets.map((t) => t.node));
    for (const [node, look] of this.looks)
      if (!wanted.has(node)) {
        this.looks.delete(node);
        this.ended.set(node, look);
      }
    for (const target of targets) {
      const known = this.looks.get(target.node);
      if (known) known.target = target;
      else {
        const { waiting = [], echoedAt = -Infinity } = this.ended.get(target.node) ?? {};
        this.ended.delete(target.node);
        this.looks.set(target.node, { target, nextRound: this.now, waiting, echoedAt, unansweredAt: -Infinity });
      }
    }
  }

  state(node: string, now: number, freshness: number): 'echo' | 'silent' | 'unknown' {
    const look = this.looks.get(node);
    if (!look) return 'unknown';
    if (now - look.echoedAt < freshness) return 'echo';
    return now - look.unansweredAt < freshness ? 'silent' : 'unknown';
  }

  evidence(): OwnProbe | undefined {
    return undefined;
  }

  /** The monitor's time goes on to `now`. Of whom something was learnt. */
  advance(now: number): string[] {
    this.now = now;
    const learnt: string[] = [];
    for (const [node, look] of this.looks) {
      for (; look.nextRound <= now; look.nextRound += look.target.round) this.round(look);
      if (this.read(look, now)) learnt.push(node);
    }
    for (const look of this.ended.values()) this.read(look, now);
    return learnt;
  }

  /** The monitor stood still: timers run before sockets are read, so whoever's time was up in between did not answer. */
  stoodStill(from: number, until: number): void {
    for (const look of [...this.looks.values(), ...this.ended.values()]) {
      look.nextRound = Math.max(look.nextRound, until);
      look.waiting = look.waiting.map((w) => {
        if (w.at < from) return w;
        return { ...w, at: Math.max(w.at, until), echoed: w.echoed && w.limit > until };
      });
    }
  }

  /** @returns whether something had come, or had not come in time */
  private read(look: Look, now: number): boolean {
    const due = look.waiting.filter((w) => w.at <= now);
    if (due.length === 0) return false;
    look.waiting = look.waiting.filter((w) => w.at > now);
    for (const { at, echoed } of due.sort((a, b) => a.at - b.at)) look[echoed ? 'echoedAt' : 'unansweredAt'] = at;
    return true;
  }

  /** One that comes after its limit counts when it comes: the real one waits for it three times as long. */
  private round(look: Look): void {
    const { node, networks, limit } = look.target;
    const sentAt = look.nextRound;
    for (const network of Object.keys(networks)) {
      const at = this.echoAt(node, network, sentAt) ?? Infinity;
      if (at > sentAt + limit) look.waiting.push({ at: sentAt + limit, echoed: false, limit: sentAt + limit });
      if (at <= sentAt + limit * LATE) look.waiting.push({ at, echoed: true, limit: sentAt + limit * LATE });
    }
  }
}
