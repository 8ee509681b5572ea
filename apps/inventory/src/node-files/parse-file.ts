// By file, and not the whole of the contracts: the thread begins sooner.
import { MusterError } from '#contracts/errors/errors.js';
import { refuseHostile } from '#contracts/rpc/plain-text.js';
import type { NodeImportRequest } from '#contracts';
import { readCsv } from './csv-file.js';
import { MOST_FINDINGS, MOST_ROWS, MOST_VALUES } from './file-limits.js';
import type { FileContent, FileError, FileRow } from './file-row.js';
import { readYaml } from './yaml-file.js';

/**
 * A file as rows, and what is wrong with them by themselves. What comes out is bounded, whatever went in; the time is
 * not: it is for a thread of its own.
 */
export function parseFile(format: NodeImportRequest['format'], text: string): FileContent {
  const { rows, errors } = format === 'yaml' ? readYaml(text) : readCsv(text);
  if (rows.length > MOST_ROWS)
    return {
      rows: [],
      errors: [{ line: 1, message: `a file takes ${MOST_ROWS} nodes, this one has ${rows.length}: split it` }],
    };
  if (isTooLarge(rows))
    return { rows: [], errors: [{ line: 1, message: `the file says more than ${MOST_VALUES} values: split it` }] };
  const hostile = rows.flatMap(hostileRow);
  return { rows: hostile.length === 0 ? rows : [], errors: [...errors, ...hostile].slice(0, MOST_FINDINGS) };
}

/** A file takes what a request takes. */
function hostileRow({ line, row }: FileRow): FileError[] {
  try {
    refuseHostile(row, 'the file');
    return [];
  } catch (e) {
    return [{ line, message: MusterError.from(e).message }];
  }
}

/** Counted as often as it is said: a list that ten aliases name is ten lists to whoever writes it. */
function isTooLarge(rows: readonly FileRow[]): boolean {
  let values = 0;
  const left: unknown[] = rows.map((r) => r.row);
  while (left.length > 0) {
    const next = left.pop();
    if (++values > MOST_VALUES) return true;
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) left.push(inner);
  }
  return false;
}
