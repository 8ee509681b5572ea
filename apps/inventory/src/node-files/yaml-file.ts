import { isMap, isSeq, LineCounter, parseDocument, stringify } from 'yaml';
import type { FileContent, FileError, FileRow } from './file-row.js';
import { tokenFault, treeFaults } from './yaml-limits.js';

/** A file with one list, `nodes:`, each in the shape of a registration. */
export function readYaml(text: string): FileContent {
  const lines = new LineCounter();
  const errorAt = (line: number, message: string): FileContent => ({ rows: [], errors: [{ line, message }] });
  try {
    const fault = tokenFault(text);
    if (fault !== undefined) return errorAt(1, `the file cannot be read: ${fault}`);
    // That keys are unique is looked at below: the parser would compare each with all before it.
    const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
    const found = [
      ...doc.errors.map((e) => ({ line: lines.linePos(e.pos[0]).line, message: e.message })),
      ...treeFaults(doc.contents, lines),
    ];
    if (found.length > 0) return { rows: [], errors: found };
    const list = isMap(doc.contents) ? doc.get('nodes', true) : undefined;
    if (!isMap(doc.contents) || !isSeq(list) || doc.contents.items.length !== 1)
      return errorAt(1, 'the file has one member, "nodes": a list of nodes');
    const rows: FileRow[] = [];
    const errors: FileError[] = [];
    for (const item of list.items) {
      const line = lines.linePos((item as { range?: [number] }).range?.[0] ?? 0).line;
      // Few aliases: a file of a few lines must not become a heap of gigabytes.
      if (isMap(item)) rows.push({ line, row: item.toJS(doc, { maxAliasCount: 100 }) as Record<string, unknown> });
      else errors.push({ line, message: 'a node is a mapping' });
    }
    return { rows, errors };
  } catch (e) {
    // Nested so deep that the parser gives up, or aliases of aliases.
    return errorAt(1, `the file cannot be read: ${(e as Error).message}`);
  }
}

/** Items of the list, without the line `nodes:` above them; the texts of several calls make one file. */
export const yamlItems = (rows: readonly object[]): string =>
  rows.length === 0 ? '' : stringify(rows, { lineWidth: 0, aliasDuplicateObjects: false });

/** What stands above the items. */
export const yamlHead = (empty: boolean): string => (empty ? 'nodes: []\n' : 'nodes:\n');
