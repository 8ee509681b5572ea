import Table from 'cli-table3';
import { oneLine } from './one-line.js';

const borders = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'];
const edges = ['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'];
const chars = { ...Object.fromEntries([...borders, ...edges].map((place) => [place, ''])), middle: '  ' };

/** Columns for people. */
export function table(head: string[], rows: string[][]): string {
  const made = new Table({ head, chars, style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 } });
  made.push(...rows.map((cells) => cells.map(oneLine)));
  return made.toString().replaceAll(/[ \t]+$/gm, '');
}

/** One `first: key: value` line per cell, where `first` is the row's first cell: grep finds whole facts. */
export function rowLines(head: string[], rows: string[][]): string[] {
  return rows.flatMap(([first = '', ...rest]) =>
    rest.map((cell, i) => `${first}: ${head[i + 1]?.toLowerCase()}: ${oneLine(cell)}`.trimEnd()),
  );
}
