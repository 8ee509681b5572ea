/** One link to be probed: a peer over a network. */
export interface ProbeTarget {
  peer: string;
  network: string;
}

interface Slot extends ProbeTarget {
  /** When it is next probed, monotonic ms. */
  nextAt: number;
  /** When it was last probed; -Infinity: never. */
  lastAt: number;
  /** The longest interval in force since then, ms. */
  longest: number;
  /** A point of its grid, where its next turn lies beside it; that after it lies on it again. */
  gridAt?: number | undefined;
}

/** The next time on the grid `at + k · interval` that is not before `now`. */
export const onGrid = (at: number, interval: number, now: number): number =>
  at >= now ? at : at + Math.ceil((now - at) / interval) * interval;

/**
 * Spreads the peers evenly over the interval; one peer's networks are probed together, so that its silence is known on
 * all of them at the same time, and told in one report. Never makes up for probes that were not sent in time: a burst fills
 * the receivers' buffers and looks like loss.
 */
export class ProbeSchedule {
  private slots: Slot[] = [];
  private interval = 500;

  /**
   * Turns lie on a grid of the interval; `phase` (0…1) is random per process, so that agents do not beat together. Where
   * the interval changes, a link has its turn no sooner than the longest interval since its last probe after that one: a
   * probe that waits for the one before it leaves late, the next ones follow too soon, and a row of misses spans less
   * than the silence timeout. A turn that was to come no sooner than that, and before its new one, stays: however often
   * the interval changes, nobody waits for more than two of the longest.
   */
  set(peers: ReadonlyMap<string, readonly string[]>, interval: number, now: number, phase: number): void {
    const kept = new Map(this.slots.map((s) => [`${s.peer}\0${s.network}`, s]));
    const turns = new Map(interval === this.interval ? this.slots.map((s) => [s.peer, s.nextAt]) : []);
    this.interval = interval;
    const names = [...peers.keys()].sort();
    this.slots = names.flatMap((peer, i) => {
      const share = (i / Math.max(1, names.length) + phase) % 1;
      return [...(peers.get(peer) ?? [])].sort().map((network) => {
        const known = kept.get(`${peer}\0${network}`);
        const turn = turns.get(peer);
        if (known && turn !== undefined) return known;
        const { lastAt = -Infinity, longest = 0 } = known ?? {};
        const slot = { peer, network, lastAt, longest: Math.max(longest, interval) };
        if (turn !== undefined) return { ...slot, nextAt: turn };
        const soonest = lastAt + slot.longest;
        const gridAt = share * interval;
        const nextAt = onGrid(gridAt, interval, Math.max(now, soonest));
        const stays = known !== undefined && known.nextAt >= soonest && known.nextAt < nextAt;
        return stays ? { ...slot, nextAt: known.nextAt, gridAt } : { ...slot, nextAt };
      });
    });
  }

  /** Links whose turn has come, each once; `ready` is false while its last probe is still outstanding: it then waits. */
  due(now: number, ready: (t: ProbeTarget) => boolean): ProbeTarget[] {
    const due: ProbeTarget[] = [];
    for (const slot of this.slots) {
      if (slot.nextAt > now || !ready(slot)) continue;
      due.push({ peer: slot.peer, network: slot.network });
      slot.lastAt = now;
      slot.longest = this.interval;
      const soonest = slot.nextAt + this.interval;
      slot.nextAt = onGrid(
        slot.gridAt === undefined ? soonest : onGrid(slot.gridAt, this.interval, soonest),
        this.interval,
        now,
      );
      slot.gridAt = undefined;
    }
    return due;
  }

  /** After a standstill: what was missed is not sent late; everyone keeps its phase. */
  skipTo(now: number): void {
    for (const slot of this.slots) slot.nextAt = onGrid(slot.nextAt, this.interval, now);
  }
}
