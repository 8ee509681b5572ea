import Table from 'cli-table3';
import type { Terminal } from './terminal.js';

const bare = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
};
const chars = {
  ...bare,
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/**
 * Rows for people: a table on a terminal; in a pipe one `first: key: value` line per cell, where `first` is the row's
 * first cell, so that grep finds whole facts.
 */
export function printRows(terminal: Terminal, head: string[], rows: string[][], none: string): void {
  if (!terminal.interactive) {
    for (const [first = '', ...rest] of rows)
      for (const [i, cell] of rest.entries()) terminal.line(`${first}: ${head[i + 1]?.toLowerCase()}: ${cell}`);
    return;
  }
  if (rows.length === 0) return terminal.line(terminal.paint('dim', none));
  const table = new Table({
    head: head.map((h) => terminal.paint('bold', h)),
    chars,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows);
  terminal.line(table.toString().replaceAll(/[ \t]+$/gm, ''));
}
