import type { Random } from '#contracts';
import { Dice } from '#contracts/testing/dice.js';

/** Chance as one simulated process has it: all of it from one seed. */
export class SeededRandom implements Random {
  private readonly dice: Dice;

  constructor(from: number | Dice) {
    this.dice = typeof from === 'number' ? new Dice(from) : from;
  }

  number(): number {
    return this.dice.roll();
  }

  bytes(size: number): Uint8Array {
    const bytes = new Uint8Array(size);
    for (let i = 0; i < size; i++) bytes[i] = this.dice.below(256);
    return bytes;
  }

  hex(size: number): string {
    let text = '';
    for (let i = 0; i < size; i++) text += HEX[this.dice.below(256)];
    return text;
  }

  uuid(): string {
    const h = this.hex(16);
    const variant = '89ab'[this.dice.below(4)];
    return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-${variant}${h.slice(17, 20)}-${h.slice(20)}`;
  }
}

const HEX = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'));
