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

/** Dice of one seed for one purpose: what one purpose draws says nothing of what another does. */
export function diceOf(seed: number, label: string): Dice {
  let h = 0x811c9dc5;
  for (const c of `${seed} ${label}`) h = Math.imul(h ^ c.charCodeAt(0), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return new Dice((h ^ (h >>> 16)) >>> 0);
}
