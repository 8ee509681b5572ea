import ts from 'typescript';
import type { Mutant, Operation } from './mutant.js';
import { hint } from './nearest.js';
import { complaintAbout, nodesWithin, wordsOf, type Source } from './source.js';
import { symbolsOf } from './symbols.js';

interface Edit {
  start: number;
  end: number;
  text: string;
}

type Result<T> = { ok: T } | { problem: string };

/** Which nodes an operation is about, the text that names one of them, and what becomes of it. */
interface Plan {
  what: string;
  text: string;
  fits: (node: ts.Node) => boolean;
  /** Of a node that only has its name to be found by. */
  nameOf?: (node: ts.Node) => string | undefined;
  edit: (node: ts.Node, source: Source) => Edit;
}

const change = (node: ts.Node, source: Source, text: string): Edit => ({
  start: node.getStart(source.tree),
  end: node.end,
  text,
});

const LOGICAL: readonly ts.SyntaxKind[] = [
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
];

/** The node with the brackets around it. */
function bracketed(node: ts.Node): ts.Node {
  let outer = node;
  while (outer.parent !== undefined && ts.isParenthesizedExpression(outer.parent)) outer = outer.parent;
  return outer;
}

function logicalOf(node: ts.Node): ts.BinaryExpression | undefined {
  const { parent } = bracketed(node);
  return parent !== undefined && ts.isBinaryExpression(parent) && LOGICAL.includes(parent.operatorToken.kind)
    ? parent
    : undefined;
}

function withoutOperand(node: ts.Node, source: Source): Edit {
  const parent = logicalOf(node);
  if (parent === undefined) return change(node, source, '');
  return bracketed(node) === parent.left
    ? { start: parent.left.getStart(source.tree), end: parent.right.getStart(source.tree), text: '' }
    : { start: parent.left.end, end: parent.right.end, text: '' };
}

const isListed = (node: ts.Node): boolean =>
  ts.isBlock(node.parent) || ts.isSourceFile(node.parent) || ts.isCaseOrDefaultClause(node.parent);

const isRow = (node: ts.Node): boolean =>
  ts.isObjectLiteralElementLike(node) ||
  ts.isCaseOrDefaultClause(node) ||
  (node.parent !== undefined && ts.isArrayLiteralExpression(node.parent));

function withoutRow(node: ts.Node, source: Source): Edit {
  const edit = change(node, source, '');
  const after = source.wordBeside(node, 'after');
  if (after?.text === ',') return { ...edit, end: after.end };
  const before = source.wordBeside(node, 'before');
  return before?.text === ',' ? { ...edit, start: before.start } : edit;
}

type Valued = (
  | ts.VariableDeclaration
  | ts.PropertyDeclaration
  | ts.PropertyAssignment
  | ts.ParameterDeclaration
  | ts.EnumMember
  | ts.BindingElement
) & { initializer: ts.Expression };

const isValued = (node: ts.Node): node is Valued =>
  (ts.isVariableDeclaration(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertyAssignment(node) ||
    ts.isParameter(node) ||
    ts.isEnumMember(node) ||
    ts.isBindingElement(node)) &&
  node.initializer !== undefined;

function replaced(node: ts.Node, source: Source, text: string): Edit {
  const needsEnd = source.text[node.end - 1] === ';' && !/[;}]\s*$/.test(text);
  return change(node, source, needsEnd ? `${text};` : text);
}

function planOf(o: Operation): Plan {
  if ('drop' in o)
    return {
      what: 'statement',
      text: o.drop,
      fits: ts.isStatement,
      edit: (node, source) => change(node, source, isListed(node) ? '' : '{}'),
    };
  if ('row' in o) return { what: 'row', text: o.row, fits: isRow, edit: withoutRow };
  if ('operand' in o)
    return { what: 'operand', text: o.operand, fits: (n) => logicalOf(n) !== undefined, edit: withoutOperand };
  if ('negate' in o)
    return {
      what: 'condition',
      text: o.negate,
      fits: ts.isExpression,
      edit: (node, source) => change(node, source, `!(${node.getText(source.tree)})`),
    };
  if ('set' in o)
    return {
      what: 'value',
      text: o.set,
      fits: isValued,
      nameOf: (node) => (isValued(node) && ts.isIdentifier(node.name) ? node.name.text : undefined),
      edit: (node, source) => (isValued(node) ? change(node.initializer, source, o.to) : change(node, source, o.to)),
    };
  return {
    what: 'expression or statement',
    text: o.replace,
    // A call and the statement that it makes up are one thing here; the semicolon stays where it is.
    fits: (n) => (ts.isExpression(n) || ts.isStatement(n)) && !ts.isExpressionStatement(n),
    edit: (node, source) => replaced(node, source, o.with),
  };
}

/** The nodes that fit, those apart that are as long as one that is around them. */
function matching(source: Source, roots: readonly ts.Node[], plan: Plan, words: readonly string[]): ts.Node[] {
  const found = roots.flatMap(nodesWithin).filter((n) => {
    if (!plan.fits(n)) return false;
    if (plan.nameOf) return plan.nameOf(n) === plan.text;
    if (!source.startsWith(n, words[0])) return false;
    const own = source.wordsOf(n);
    return own.length === words.length && own.every((w, i) => w === words[i]);
  });
  return found.filter((n, i) => found.findIndex((m) => m.pos === n.pos && m.end === n.end) === i);
}

const LONGEST_HINT = 160;

/** What to write instead where nothing was found: where the text stands now, else what is most like it. */
function candidates(source: Source, symbols: Map<string, ts.Node[]>, symbol: string, plan: Plan): string {
  const words = wordsOf(plan.text) ?? [];
  const elsewhere = [...symbols].filter(([, nodes]) => matching(source, nodes, plan, words).length === 1);
  const [deepest] = elsewhere.sort(([a], [b]) => b.split('.').length - a.split('.').length);
  if (deepest !== undefined) return `; it stands in ${deepest[0]}`;
  const texts = (symbols.get(symbol) ?? [source.tree])
    .flatMap(nodesWithin)
    .filter(plan.fits)
    .map((n) => plan.nameOf?.(n) ?? n.getText(source.tree).replace(/\s+/g, ' '))
    .filter((text) => text.length <= LONGEST_HINT);
  return hint(plan.text, texts);
}

function editOf(source: Source, symbols: Map<string, ts.Node[]>, symbol: string, o: Operation): Result<Edit> {
  const plan = planOf(o);
  const words = wordsOf(plan.text);
  if (words === undefined) return { problem: `"${plan.text}" is no TypeScript` };
  const roots = symbols.get(symbol);
  if (roots === undefined) {
    const names = hint(symbol, symbols.keys());
    return { problem: `no symbol ${symbol}${names}${candidates(source, symbols, symbol, plan)}` };
  }
  const nodes = matching(source, roots, plan, words);
  const [node] = nodes;
  if (node === undefined)
    return { problem: `no ${plan.what} "${plan.text}" in ${symbol}${candidates(source, symbols, symbol, plan)}` };
  if (nodes.length > 1) {
    const lines = nodes.map((n) => source.lineOf(n)).join(', ');
    return { problem: `${nodes.length} times the ${plan.what} "${plan.text}" in ${symbol}, lines ${lines}` };
  }
  return { ok: plan.edit(node, source) };
}

/** The file's text with the mutant in it; `problem`: what was not found, and what is nearest to it. */
export function mutate(source: Source, m: Pick<Mutant, 'symbol' | 'operation'>): Result<string> {
  const { text } = source;
  const symbols = symbolsOf(source);
  const operations: readonly Operation[] = Array.isArray(m.operation) ? m.operation : [m.operation];
  const edits: Edit[] = [];
  for (const o of operations) {
    const edit = editOf(source, symbols, m.symbol, o);
    if ('problem' in edit) return edit;
    edits.push(edit.ok);
  }
  edits.sort((a, b) => b.start - a.start);
  if (edits.some((e, i) => e.end > (edits[i - 1]?.start ?? Infinity)))
    return { problem: `its operations in ${m.symbol} touch each other` };
  const mutated = edits.reduce((t, e) => `${t.slice(0, e.start)}${e.text}${t.slice(e.end)}`, text);
  if (mutated === text) return { problem: `it changes nothing in ${m.symbol}` };
  const complaint = complaintAbout(mutated);
  return complaint === undefined ? { ok: mutated } : { problem: `with it the file does not parse: ${complaint}` };
}
