import ts from 'typescript';

interface Word {
  text: string;
  start: number;
  end: number;
}

const CLOSERS: readonly string[] = [')', ']', '}'];

/** What the formatter adds or takes away: it tells nothing of what the code does. */
const isOptional = (word: string, next: string | undefined): boolean =>
  (word === ',' && (next === undefined || CLOSERS.includes(next))) ||
  (word === ';' && (next === undefined || next === '}'));

const essential = (words: readonly string[]): string[] => words.filter((w, i) => !isOptional(w, words[i + 1]));

function leavesOf(file: ts.SourceFile): Word[] {
  const words: Word[] = [];
  const visit = (node: ts.Node): void => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return;
    const children = node.getChildren(file);
    if (children.length > 0) return children.forEach(visit);
    const [start, end] = [node.getStart(file), node.getEnd()];
    if (end > start) words.push({ text: file.text.slice(start, end), start, end });
  };
  visit(file);
  return words;
}

const parsed = (text: string): ts.SourceFile => ts.createSourceFile('mutated.ts', text, ts.ScriptTarget.ES2023, true);

/** What the parser has to say of a file. TypeScript keeps it there, and tells it only to a whole program. */
type Parsed = ts.SourceFile & { parseDiagnostics: readonly ts.DiagnosticWithLocation[] };

/** The first complaint of the parser; undefined: the text is TypeScript. */
export function complaintAbout(text: string): string | undefined {
  const [first] = (parsed(text) as Parsed).parseDiagnostics;
  return first && ts.flattenDiagnosticMessageText(first.messageText, ' ');
}

/** Places where the text of an operation may stand, so that it can be read without its surroundings. */
const PLACES = [
  ['async function f() {', '}'],
  ['async () => (', ')'],
  ['({', '})'],
  ['switch (x) {', '}'],
] as const;

/** Words of a text that stands for itself; undefined: it is no TypeScript. */
export function wordsOf(text: string): string[] | undefined {
  for (const [before, after] of PLACES) {
    const whole = `${before}${text}\n${after}`;
    if (complaintAbout(whole) !== undefined) continue;
    const [from, to] = [before.length, before.length + text.length];
    return essential(
      leavesOf(parsed(whole))
        .filter((w) => w.start >= from && w.end <= to)
        .map((w) => w.text),
    );
  }
  return undefined;
}

/** A file as its syntax tree and the words that matter. */
export class Source {
  readonly tree: ts.SourceFile;
  private readonly words: Word[];
  /** Position where a word starts → its index. */
  private readonly indexes = new Map<number, number>();

  constructor(readonly text: string) {
    this.tree = parsed(text);
    this.words = leavesOf(this.tree);
    this.words.forEach((w, i) => this.indexes.set(w.start, i));
  }

  wordsOf(node: ts.Node): string[] {
    const first = this.indexes.get(node.getStart(this.tree)) ?? 0;
    let last = first;
    while (last < this.words.length && (this.words[last]?.end ?? Infinity) <= node.end) last++;
    return essential(this.words.slice(first, last).map((w) => w.text));
  }

  startsWith(node: ts.Node, word: string | undefined): boolean {
    return this.words[this.indexes.get(node.getStart(this.tree)) ?? -1]?.text === word;
  }

  /** The word after the node, or the one before it. */
  wordBeside(node: ts.Node, side: 'before' | 'after'): Word | undefined {
    if (side === 'after') return this.words.find((w) => w.start >= node.end);
    return this.words[(this.indexes.get(node.getStart(this.tree)) ?? 0) - 1];
  }

  lineOf(node: ts.Node): number {
    return this.tree.getLineAndCharacterOfPosition(node.getStart(this.tree)).line + 1;
  }
}

/** The node and all below it, from the outside to the inside. */
export function nodesWithin(node: ts.Node): ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (n: ts.Node): void => {
    nodes.push(n);
    ts.forEachChild(n, visit);
  };
  visit(node);
  return nodes;
}
