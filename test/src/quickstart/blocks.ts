/** Who runs a code block of the docs, as the comment in front of it says. */
export type Runner =
  /** The scene of this name, in the order of the page; `until`: it stays, and the next one waits for this text. */
  | { scene: string; until?: string }
  /** Nobody: why. */
  | { skipped: string };

/** A fenced code block of a page. */
export interface Block {
  file: string;
  /** Of its fence, from 1. */
  line: number;
  text: string;
  /** Undefined: nobody says. */
  runner?: Runner;
}

/** `README.md:34` */
export const placeOf = ({ file, line }: Block): string => `${file}:${line}`;

const FENCE = /^(\s*)(```+|~~~+)/;
/** Readers do not see it: a comment on the last line before the fence that is not empty. */
const MARK = /^\s*<!-- quickstart: (.*) -->\s*$/;

/**
 * Every fenced block of a page. In front of each stands `<!-- quickstart: SCENE -->`,
 * `<!-- quickstart: SCENE, until "TEXT" -->` or `<!-- quickstart: skipped, REASON -->`.
 * @throws Error where a fence is not closed, or a comment is none of these
 */
export function blocksOf(file: string, page: string): Block[] {
  const lines = page.split('\n');
  const blocks: Block[] = [];
  for (let i = 0; i < lines.length; i++) {
    const [, indent = '', fence] = FENCE.exec(lines[i]!) ?? [];
    if (fence === undefined) continue;
    const end = lines.findIndex((line, at) => at > i && line.trim() === fence);
    if (end < 0) throw new Error(`${file}:${i + 1}: the fence is not closed`);
    const runner = runnerOf(lines.slice(0, i), `${file}:${i + 1}`);
    const text = lines.slice(i + 1, end).map((line) => line.slice(indent.length));
    blocks.push({ file, line: i + 1, text: text.join('\n'), ...(runner && { runner }) });
    i = end;
  }
  return blocks;
}

function runnerOf(before: readonly string[], place: string): Runner | undefined {
  const said = before.findLast((line) => line.trim() !== '');
  const mark = said === undefined ? undefined : MARK.exec(said)?.[1];
  if (mark === undefined) return undefined;
  const skipped = /^skipped, (.+)$/.exec(mark)?.[1];
  if (skipped !== undefined) return { skipped };
  const [, scene, until] = /^([a-z][a-z-]*)(?:, until "([^"]+)")?$/.exec(mark) ?? [];
  if (scene === undefined || scene === 'skipped')
    throw new Error(`${place}: "${mark}" says neither a scene nor why not`);
  return { scene, ...(until !== undefined && { until }) };
}

/**
 * A block with the values of a place where it runs instead of those that the page has for its readers.
 * @throws Error where a page has one of these no more: then something would run against an address of the page
 */
export function withValues(text: string, values: Readonly<Record<string, string>>): string {
  const names = Object.keys(values).sort((a, b) => b.length - a.length);
  const any = new RegExp(
    `(?<![\\w.])(${names.map((n) => n.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|')})(?![\\w]|\\.\\d)`,
    'g',
  );
  return names.length === 0 ? text : text.replace(any, (name) => values[name]!);
}
