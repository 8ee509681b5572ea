import { CST, isAlias, isMap, isScalar, isSeq, Lexer, type LineCounter, type ParsedNode, type YAMLMap } from 'yaml';
import { DEEPEST, MOST_ITEMS, MOST_KEYS, MOST_TOKENS } from './file-limits.js';
import type { FileError } from './file-row.js';

const OPENS: ReadonlySet<string> = new Set(['flow-map-start', 'flow-seq-start']);
const CLOSES: ReadonlySet<string> = new Set(['flow-map-end', 'flow-seq-end']);
/** Each begins one more level on the same line. */
const INDICATES: ReadonlySet<string> = new Set(['seq-item-ind', 'explicit-key-ind']);

/**
 * Before anything is built of it: the parser recurses, and pays for each alias with what stands before it.
 * @returns what is wrong
 */
export function tokenFault(text: string): string | undefined {
  let tokens = 0;
  let depth = 0;
  let indicators = 0;
  let aliases = 0;
  let isContent = false;
  for (const token of new Lexer().lex(text)) {
    if (++tokens > MOST_TOKENS) return `it has more than ${MOST_TOKENS} parts`;
    if (isContent || token === CST.SCALAR) {
      isContent = token === CST.SCALAR;
      continue;
    }
    const type = CST.tokenType(token) ?? '';
    if (OPENS.has(type)) depth += 1;
    else if (CLOSES.has(type)) depth -= 1;
    else if (INDICATES.has(type)) indicators += 1;
    else if (type === 'newline') indicators = 0;
    else if (type === 'alias' && ++aliases > MOST_ITEMS) return `it has more than ${MOST_ITEMS} aliases`;
    if (depth > DEEPEST || indicators > DEEPEST) return `it is nested more than ${DEEPEST} levels deep`;
  }
  return undefined;
}

/** Of what was built: how large each part is, and that no key stands twice. */
export function treeFaults(root: ParsedNode | null, lines: LineCounter): FileError[] {
  const errors: FileError[] = [];
  const left: { node: unknown; depth: number }[] = [{ node: root, depth: 0 }];
  const lineOf = (node: unknown): number =>
    lines.linePos((node as { range?: [number] | null } | null)?.range?.[0] ?? 0).line;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { node, depth } = next;
    const say = (message: string): void => void errors.push({ line: lineOf(node), message });
    if (!isMap(node) && !isSeq(node)) continue;
    if (depth > DEEPEST) say(`it is nested more than ${DEEPEST} levels deep`);
    else if (isSeq(node)) {
      // The list of nodes itself has a limit, and a sentence, of its own.
      if (depth > 1 && node.items.length > MOST_ITEMS) say(`a list has at most ${MOST_ITEMS} items`);
      else for (const item of node.items) left.push({ node: item, depth: depth + 1 });
    } else if (node.items.length > MOST_KEYS) say(`a mapping has at most ${MOST_KEYS} members`);
    else {
      for (const error of keyFaults(node, lineOf)) errors.push(error);
      for (const { value } of node.items) left.push({ node: value, depth: depth + 1 });
    }
  }
  return errors;
}

function keyFaults(map: YAMLMap, lineOf: (node: unknown) => number): FileError[] {
  const seen = new Set<string>();
  return map.items.flatMap(({ key }) => {
    if (!isScalar(key) || isAlias(key))
      return [{ line: lineOf(key ?? map), message: 'the name of a member is a text' }];
    const name = String(key.value);
    if (seen.has(name))
      return [{ line: lineOf(key), message: `names of members are unique: "${name}" is there twice` }];
    seen.add(name);
    return [];
  });
}
