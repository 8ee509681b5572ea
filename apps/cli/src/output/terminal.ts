import { createInterface } from 'node:readline/promises';
import type { Io } from '../io/io.js';

const codes = { red: 31, green: 32, yellow: 33, cyan: 36, dim: 2, bold: 1 } as const;
export type Colour = keyof typeof codes;

/** stdout, stderr and the person in front of them, if there is one. */
export class Terminal {
  /** A person reads this: tables, colours, questions. In a pipe: lines that can be searched. */
  readonly interactive: boolean;
  /** Lines can be drawn anew in their place. */
  readonly canRedraw: boolean;
  private readonly coloured: boolean;

  constructor(private readonly io: Io) {
    this.interactive = io.stdout.isTTY === true;
    this.canRedraw = this.interactive && io.env['TERM'] !== 'dumb';
    this.coloured = this.canRedraw && (io.env['NO_COLOR'] ?? '') === '';
  }

  get width(): number {
    return this.io.stdout.columns || 100;
  }

  get height(): number {
    return this.io.stdout.rows || 24;
  }

  out(text: string): void {
    this.io.stdout.write(text);
  }

  line(text = ''): void {
    this.out(`${text}\n`);
  }

  json(value: unknown): void {
    this.line(JSON.stringify(value, undefined, 2));
  }

  note(text: string): void {
    this.io.stderr.write(`${text}\n`);
  }

  paint(colour: Colour, text: string): string {
    return this.coloured ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;
  }

  /** Only where a person can answer. */
  get canAsk(): boolean {
    return this.io.stdin.isTTY === true && this.io.stderr.isTTY === true;
  }

  async confirm(question: string): Promise<boolean> {
    this.io.stderr.write(`${question} [y/N] `);
    const reader = createInterface({ input: this.io.stdin });
    try {
      for await (const answer of reader) return /^y(es)?$/i.test(answer.trim());
      return false;
    } finally {
      reader.close();
    }
  }
}
