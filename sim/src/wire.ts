import type { Dice } from '#contracts/testing/dice.js';

/** How datagrams and reports travel. Times in virtual ms, shares from 0 to 1. */
export interface WireNumbers {
  /** Of datagrams, each way. */
  loss: number;
  /** Most of the usual delay, each way. */
  delay: number;
  /** So many take longer, up to `late`. */
  lateShare: number;
  late: number;
  /** So many come twice. */
  doubled: number;
  /** Most that a report takes, over each of its connections. */
  report: number;
}

export const quickWire: WireNumbers = { loss: 0, delay: 1, lateShare: 0, late: 0, doubled: 0, report: 5 };

/** Draws what happens to a datagram. */
export class Wire {
  constructor(
    readonly n: WireNumbers,
    private readonly dice: Dice,
  ) {}

  lost(): boolean {
    return this.n.loss > 0 && this.dice.chance(this.n.loss);
  }

  doubled(): boolean {
    return this.n.doubled > 0 && this.dice.chance(this.n.doubled);
  }

  delay(): number {
    const late = this.n.lateShare > 0 && this.dice.chance(this.n.lateShare);
    return (late ? this.n.late : this.n.delay) * this.dice.roll();
  }

  reportDelay(): number {
    return this.n.report * this.dice.roll();
  }
}
