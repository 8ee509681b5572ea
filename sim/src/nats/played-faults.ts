import { Dice } from '#contracts/testing/dice.js';

/**
 * What becomes of one call: `lost` never reaches the server; `unanswered` is carried out, and its answer is lost;
 * `twice` is carried out, and a late copy of it arrives again.
 */
export type Fate = 'done' | 'lost' | 'unanswered' | 'twice';

/** How often and how much, between least and most. All of it may be changed while a history runs. */
export interface FaultRates {
  /** One way between a client and the server, ms. */
  latencyMs: readonly [least: number, most: number];
  /** Of calls, each 0 to 1. */
  lost: number;
  unanswered: number;
  twice: number;
  /** Until the copy comes, ms. */
  copyMs: readonly [least: number, most: number];
  /** Of messages of a stream to a reader, 0 to 1: how many come late. */
  lagging: number;
  /** How late, ms. */
  lagMs: readonly [least: number, most: number];
}

export const CALM: FaultRates = {
  latencyMs: [0.1, 0.1],
  lost: 0,
  unanswered: 0,
  twice: 0,
  copyMs: [1, 1],
  lagging: 0,
  lagMs: [0, 0],
};

/** A call that a fault is meant for; what is left out may be anything. */
export interface CallMatch {
  client?: string;
  /** Subject, or the API's word and stream, e.g. `last KV_leases`: how it begins. */
  what?: string;
}

/** What goes wrong between the played server and its clients: drawn from a seed, or set by hand for the next call. */
export class PlayedFaults {
  private readonly next: { fate: Fate; match: CallMatch }[] = [];
  private readonly lags = new Map<string, number>();
  private readonly replicas = new Map<string, { messages: number; forMs: number }>();

  constructor(
    readonly dice: Dice = new Dice(1),
    public rates: FaultRates = CALM,
  ) {}

  /** The next call of this kind; several are used up in the order in which they were set. */
  once(fate: Fate, match: CallMatch = {}): void {
    this.next.push({ fate, match });
  }

  /** All messages of a stream reach their readers so much later, until it is set anew. 0: as drawn. */
  setLag(stream: string, ms: number): void {
    this.lags.set(stream, ms);
  }

  /** Readers that begin from now on are at a replica that has not got the newest so many yet, and gets them only then. */
  setReplicaBehind(stream: string, messages: number, forMs: number): void {
    this.replicas.set(stream, { messages, forMs });
  }

  replicaBehind(stream: string): { messages: number; forMs: number } {
    return this.replicas.get(stream) ?? { messages: 0, forMs: 0 };
  }

  fate(client: string, what: string): Fate {
    if (this.next.length > 0) {
      const at = this.next.findIndex(
        ({ match }) =>
          (match.client === undefined || match.client === client) &&
          (match.what === undefined || what.startsWith(match.what)),
      );
      const [set] = at < 0 ? [] : this.next.splice(at, 1);
      if (set) return set.fate;
    }
    const { lost, unanswered, twice } = this.rates;
    if (lost + unanswered + twice === 0) return 'done';
    const roll = this.dice.roll();
    if (roll < lost) return 'lost';
    if (roll < lost + unanswered) return 'unanswered';
    return roll < lost + unanswered + twice ? 'twice' : 'done';
  }

  latencyMs(): number {
    return this.between(this.rates.latencyMs);
  }

  copyMs(): number {
    return this.between(this.rates.copyMs);
  }

  lagMs(stream: string): number {
    const set = this.lags.get(stream) ?? 0;
    if (set > 0) return set;
    return this.rates.lagging > 0 && this.dice.chance(this.rates.lagging) ? this.between(this.rates.lagMs) : 0;
  }

  private between([least, most]: readonly [number, number]): number {
    return least === most ? least : least + this.dice.roll() * (most - least);
  }
}
