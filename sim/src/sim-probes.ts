import type { OwnProbe } from '#contracts';
import type { ProbeTarget } from '../../apps/detector/src/probe/own-probe.js';

/** As in the real one: an echo is waited for so many times its limit. */
const LATE = 3;

interface ProbeState {
  target: ProbeTarget;
  nextRound: number;
  /** What was sent, and what came or did not come of it. */
  waiting: { at: number; echoed: boolean; limit: number }[];
  echoedAt: number;
  unansweredAt: number;
}

/** The monitor's own probes of suspects, with the times of the real one, over the simulated wire. */
export class SimProbes {
  private readonly probed = new Map<string, ProbeState>();
  /** Of those that are not probed now: what they answer still counts. */
  private readonly ended = new Map<string, ProbeState>();

  constructor(
    private now: number,
    /** When the node's echo to a datagram of this time comes; undefined: never. */
    private readonly echoAt: (node: string, network: string, t: number) => number | undefined,
  ) {}

  watch(targets: readonly ProbeTarget[]): void {
    const wanted = new Set(targets.map((t) => t.node));
    for (const [node, state] of this.probed)
      if (!wanted.has(node)) {
        this.probed.delete(node);
        this.ended.set(node, state);
      }
    for (const target of targets) {
      const known = this.probed.get(target.node);
      if (known) known.target = target;
      else {
        const { waiting = [], echoedAt = -Infinity } = this.ended.get(target.node) ?? {};
        this.ended.delete(target.node);
        this.probed.set(target.node, { target, nextRound: this.now, waiting, echoedAt, unansweredAt: -Infinity });
      }
    }
  }

  state(node: string, now: number, freshness: number): 'echo' | 'silent' | 'unknown' {
    const state = this.probed.get(node);
    if (!state) return 'unknown';
    if (now - state.echoedAt < freshness) return 'echo';
    return now - state.unansweredAt < freshness ? 'silent' : 'unknown';
  }

  evidence(): OwnProbe | undefined {
    return undefined;
  }

  /** The monitor's time goes on to `now`. Of whom something was learnt. */
  advance(now: number): string[] {
    this.now = now;
    const learnt: string[] = [];
    for (const [node, state] of this.probed) {
      for (; state.nextRound <= now; state.nextRound += state.target.round) this.round(state);
      if (this.read(state, now)) learnt.push(node);
    }
    for (const state of this.ended.values()) this.read(state, now);
    return learnt;
  }

  /** The monitor stood still: timers run before sockets are read, so whoever's time was up in between did not answer. */
  stoodStill(from: number, until: number): void {
    for (const state of [...this.probed.values(), ...this.ended.values()]) {
      state.nextRound = Math.max(state.nextRound, until);
      state.waiting = state.waiting.map((w) => {
        if (w.at < from) return w;
        return { ...w, at: Math.max(w.at, until), echoed: w.echoed && w.limit > until };
      });
    }
  }

  /** @returns whether something had come, or had not come in time */
  private read(state: ProbeState, now: number): boolean {
    const due = state.waiting.filter((w) => w.at <= now);
    if (due.length === 0) return false;
    state.waiting = state.waiting.filter((w) => w.at > now);
    for (const { at, echoed } of due.sort((a, b) => a.at - b.at)) state[echoed ? 'echoedAt' : 'unansweredAt'] = at;
    return true;
  }

  /** One that comes after its limit counts when it comes: the real one waits for it three times as long. */
  private round(state: ProbeState): void {
    const { node, networks, limit } = state.target;
    const sentAt = state.nextRound;
    for (const network of Object.keys(networks)) {
      const at = this.echoAt(node, network, sentAt) ?? Infinity;
      if (at > sentAt + limit) state.waiting.push({ at: sentAt + limit, echoed: false, limit: sentAt + limit });
      if (at <= sentAt + limit * LATE) state.waiting.push({ at, echoed: true, limit: sentAt + limit * LATE });
    }
  }
}
