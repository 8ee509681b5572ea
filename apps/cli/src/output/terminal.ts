import { createInterface } from 'node:readline/promises';

const codes = { red: 31, green: 32, yellow: 33, cyan: 36, dim: 2, bold: 1 } as const;
export type Colour = keyof typeof codes;

/** stdout, stderr and the person in front of them, if there is one. */
export class Terminal {
  /** A person reads this: tables, colours, questions. In a pipe: lines that can be searched. */
  readonly interactive: boolean;
  private readonly coloured: boolean;

  constructor(private readonly env: NodeJS.ProcessEnv = process.env) {
    this.interactive = process.stdout.isTTY;
    this.coloured = this.interactive && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  }

  get width(): number {
    return process.stdout.columns || Number(this.env['COLUMNS']) || 100;
  }

  out(text: string): void {
    process.stdout.write(text);
  }

  line(text = ''): void {
    this.out(`${text}\n`);
  }

  json(value: unknown): void {
    this.line(JSON.stringify(value, undefined, 2));
  }

  note(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  paint(colour: Colour, text: string): string {
    return this.coloured ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;
  }

  /** Only where a person can answer. */
  get canAsk(): boolean {
    return process.stdin.isTTY && process.stderr.isTTY;
  }

  async confirm(question: string): Promise<boolean> {
    const reader = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return /^y(es)?$/i.test((await reader.question(`${question} [y/N] `)).trim());
    } finally {
      reader.close();
    }
  }
}
