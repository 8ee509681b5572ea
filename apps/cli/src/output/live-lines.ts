import type { Colour, Terminal } from './terminal.js';

/** One line up, and what stands there is gone. */
export const UP_AND_CLEAR = '\u001b[1A\u001b[2K';

/** A few lines at the end of a terminal that are drawn again and again in the same place. */
export class LiveLines {
  private drawn: string[] = [];

  constructor(private readonly terminal: Terminal) {}

  /** A line that does not fit is cut: one that wrapped would be two, and the next drawing would leave one behind. */
  draw(lines: { text: string; colour: Colour }[]): void {
    const next = lines.map(({ text, colour }) => this.terminal.paint(colour, cut(text, this.terminal.width - 1)));
    if (next.join('\n') === this.drawn.join('\n')) return;
    this.terminal.out(UP_AND_CLEAR.repeat(this.drawn.length) + next.map((line) => `${line}\n`).join(''));
    this.drawn = next;
  }

  clear(): void {
    this.terminal.out(UP_AND_CLEAR.repeat(this.drawn.length));
    this.drawn = [];
  }
}

const cut = (text: string, width: number): string => {
  const line = text.replaceAll(/\s+/g, (space) => (space.includes('\n') || space.includes('\t') ? ' ' : space));
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
};
