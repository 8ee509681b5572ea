/** One line of a diff: of which side, and its place there. A common line has a place in both. */
export type DiffLine = { tag: ' '; a: number; b: number } | { tag: '-'; a: number } | { tag: '+'; b: number };

/** Lines that belong together, as one `@@` of a unified diff. */
export interface Hunk {
  /** `@@ -3,7 +3,8 @@`, counted from 1. */
  head: string;
  lines: DiffLine[];
}

/** Common lines around a change. */
const CONTEXT = 3;
/** Beyond this many pairs of lines in what is not common, all of it is one change: it would cost seconds otherwise. */
const MOST_PAIRS = 4_000_000;

/** What turns `a` into `b`, line by line; none where they are the same. */
export function hunksOf(a: readonly string[], b: readonly string[]): Hunk[] {
  const lines = diffOf(a, b);
  const hunks: Hunk[] = [];
  let from = 0;
  while (from < lines.length) {
    const change = lines.findIndex((line, i) => i >= from && line.tag !== ' ');
    if (change < 0) break;
    const end = endOf(lines, change);
    const begin = Math.max(from, change - CONTEXT);
    hunks.push(hunk(lines.slice(begin, end), lines.slice(0, begin)));
    from = end;
  }
  return hunks;
}

/** Where the hunk ends that a change begins: behind its context, or where that meets no further change. */
function endOf(lines: readonly DiffLine[], change: number): number {
  let last = change;
  for (let i = change; i < lines.length && i <= last + 2 * CONTEXT; i++) if (lines[i]?.tag !== ' ') last = i;
  return Math.min(lines.length, last + CONTEXT + 1);
}

function hunk(lines: DiffLine[], before: readonly DiffLine[]): Hunk {
  const range = (tag: '-' | '+'): string => {
    const count = (of: readonly DiffLine[]): number => of.filter((l) => l.tag === ' ' || l.tag === tag).length;
    const [begin, size] = [count(before), count(lines)];
    return `${tag}${size === 0 ? begin : begin + 1}${size === 1 ? '' : `,${size}`}`;
  };
  return { head: `@@ ${range('-')} ${range('+')} @@`, lines };
}

function diffOf(a: readonly string[], b: readonly string[]): DiffLine[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [aEnd, bEnd] = [a.length - tail, b.length - tail];
  return [
    ...Array.from({ length: head }, (_, i): DiffLine => ({ tag: ' ', a: i, b: i })),
    ...changesOf(a, b, { head, aEnd, bEnd }),
    ...Array.from({ length: tail }, (_, i): DiffLine => ({ tag: ' ', a: aEnd + i, b: bEnd + i })),
  ];
}

/** By the longest common subsequence of what stands between the common head and tail. */
function changesOf(
  a: readonly string[],
  b: readonly string[],
  { head, aEnd, bEnd }: { head: number; aEnd: number; bEnd: number },
): DiffLine[] {
  const [rows, columns] = [aEnd - head, bEnd - head];
  const width = columns + 1;
  const isWhole = rows * columns > MOST_PAIRS;
  const common = new Uint32Array(isWhole ? 0 : (rows + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  if (!isWhole)
    for (let i = rows - 1; i >= 0; i--)
      for (let j = columns - 1; j >= 0; j--)
        common[i * width + j] =
          a[head + i] === b[head + j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < rows || j < columns) {
    if (!isWhole && i < rows && j < columns && a[head + i] === b[head + j])
      lines.push({ tag: ' ', a: head + i++, b: head + j++ });
    else if (j >= columns || (i < rows && at(i + 1, j) >= at(i, j + 1))) lines.push({ tag: '-', a: head + i++ });
    else lines.push({ tag: '+', b: head + j++ });
  }
  return lines;
}
