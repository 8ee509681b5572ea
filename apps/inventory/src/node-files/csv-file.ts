import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { cellsOf, columnReader, type Row } from './csv-columns.js';
import { MOST_KEYS } from './file-limits.js';
import type { FileContent, FileError, FileRow } from './file-row.js';

interface Parsed {
  record: string[];
  info: { lines: number };
}

/** A header of columns, then one line for each node. */
export function readCsv(text: string): FileContent {
  let parsed: Parsed[];
  try {
    parsed = parse(text, {
      bom: true,
      info: true,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as Parsed[];
  } catch (e) {
    const { message, lines } = e as Error & { lines?: number };
    return { rows: [], errors: [{ line: lines ?? 1, message }] };
  }
  const [head, ...rest] = parsed;
  if (!head) return { rows: [], errors: [{ line: 1, message: 'the first line names the columns' }] };
  if (head.record.length > MOST_KEYS)
    return { rows: [], errors: [{ line: 1, message: `a file has at most ${MOST_KEYS} columns` }] };
  const columns = head.record.map((c) => c.trim());
  const readers = columns.map(columnReader);
  const errors: FileError[] = columns.flatMap((column, i) => {
    const message = readers[i] ? (columns.indexOf(column) < i ? 'is there twice' : '') : 'is no column';
    return message === '' ? [] : [{ line: 1, message: `"${column}" ${message}` }];
  });
  if (errors.length > 0) return { rows: [], errors };
  const rows: FileRow[] = [];
  let before = head.info.lines;
  for (const { record, info } of rest) {
    // A cell in quotes may go over several lines: the parser tells where the row ends.
    const line = lineOfRow(before, info.lines, record);
    before = info.lines;
    if (record.length !== readers.length)
      errors.push({ line, message: `it has ${record.length} cells, the header ${readers.length}` });
    else rows.push({ line, row: rowOf(record, readers) });
  }
  return { rows, errors };
}

function rowOf(record: readonly string[], readers: ReturnType<typeof columnReader>[]): Row {
  const row: Row = {};
  for (const [i, cell] of record.entries()) if (cell !== '') readers[i]?.(row, withoutGuard(cell));
  // A level or a device that was left out is a hole here: it is to be found, and refused.
  const levels = row['powerLevels'] as unknown[][] | undefined;
  if (levels) row['powerLevels'] = Array.from(levels, (level) => level && Array.from(level));
  return row;
}

/** Lines without anything may stand before a row: it begins as many lines before its end as its own cells have. */
function lineOfRow(before: number, end: number, record: readonly string[]): number {
  const breaks = record.reduce((n, cell) => n + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
  return Math.max(before + 1, end - breaks);
}

/**
 * A spreadsheet carries out a cell that begins like this. It takes one with an apostrophe before it for a text, and so
 * does an import; numbers stay numbers.
 */
const FORMULA = /^'*\s*[=+\-@]|^'*[\t\r]/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/;
const guarded = (cell: string): string => (FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell);
const withoutGuard = (cell: string): string => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell);

/** Line breaks and outer spaces are kept by quotes. */
const QUOTED = { quoted_match: /[\r\n]|^\s|\s$/ };

export const csvHead = (columns: readonly string[]): string => stringify([[...columns]], QUOTED);

export const csvLines = (rows: readonly object[], columns: readonly string[]): string =>
  stringify(
    rows.map((row) => {
      const cells = cellsOf(row as Row);
      return columns.map((c) => guarded(cells[c] ?? ''));
    }),
    QUOTED,
  );
